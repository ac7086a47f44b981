/** Filter of the admin call log by the upstream response to an attempt: a status, a class of statuses, or no response. */
export type UpstreamResponse = 'none' | { readonly from: number; readonly to: number };

/** Choices by their value in URLs; any three-digit status is accepted too. */
export const UPSTREAM_RESPONSES: readonly (readonly [name: string, label: string])[] = [
  ['2xx', 'Succeeded (2xx)'],
  ['429', 'Rate limited (429)'],
  ['4xx', 'Rejected (4xx)'],
  ['5xx', 'Failed (5xx)'],
  ['none', 'No response'],
];

/** Undefined for any other text. */
export function upstreamResponse(text: string): UpstreamResponse | undefined {
  if (text === 'none') return text;
  if (/^[1-5]xx$/.test(text)) return { from: Number(text[0]) * 100, to: Number(text[0]) * 100 + 99 };
  return /^[1-5]\d\d$/.test(text) ? { from: Number(text), to: Number(text) } : undefined;
}
