/** What an upstream may have answered an attempt with, as operators filter by it: a status, a class of them, or nothing. */
export type UpstreamResponse = 'none' | { readonly from: number; readonly to: number };

/** What is offered to choose from, by what stands in addresses; any status of three digits is understood too. */
export const UPSTREAM_RESPONSES: readonly (readonly [name: string, label: string])[] = [
  ['2xx', 'Answered (2xx)'],
  ['429', 'Rate limited (429)'],
  ['4xx', 'Refused (4xx)'],
  ['5xx', 'Failed (5xx)'],
  ['none', 'No answer'],
];

/** Undefined for a text that means none of them. */
export function upstreamResponse(text: string): UpstreamResponse | undefined {
  if (text === 'none') return text;
  if (/^[1-5]xx$/.test(text)) return { from: Number(text[0]) * 100, to: Number(text[0]) * 100 + 99 };
  return /^[1-5]\d\d$/.test(text) ? { from: Number(text), to: Number(text) } : undefined;
}
