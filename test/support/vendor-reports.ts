/** How a scripted vendor reports what it did: truly, or as some vendors do. */

import type { ProtocolEndpoint, JsonObject } from './scripted-upstream.js';

/**
 * How the vendor's response ends: with a report that is true, with one that is not, in the middle, or because the client has
 * left: `left` while it answers, `left early` before its headers.
 */
export type VendorEnding =
  | 'reported'
  | 'text for numbers'
  | 'dearer service'
  | 'padded'
  | 'refused'
  | 'unreported'
  | 'half reported'
  | 'zeros'
  | 'billions'
  | 'inflated'
  | 'cut'
  | 'left'
  | 'left early';
/**
 * Endings whose reported tokens are true. `dearer service` claims a service that was not requested; `padded` claims
 * passes that were not requested and more searches than the request allows. Neither is billed.
 */
export const REPORTED: readonly VendorEnding[] = [
  'reported',
  'text for numbers',
  'dearer service',
  'padded',
  'refused',
];

/** A pass that is claimed without a request for one. */
export const PADDED_PASS: VendorPass = { type: 'compaction', input: 2000, output: 200 };
/** Searches that are claimed beyond those that were run. */
export const PADDED_SEARCHES = 50;

/** Tokens of one generated image, and what they cost. */
export const IMAGE = { text: 50, output: 1056 };

export interface VendorPass {
  readonly type: string;
  readonly model?: string;
  readonly input: number;
  readonly output: number;
}

export interface UsageReport {
  readonly speed: string;
  readonly geo: string | undefined;
  readonly tier: string | undefined;
  readonly searches: number;
  readonly passes: readonly VendorPass[];
  readonly model: string;
  readonly prompt: number;
  readonly output: number;
  readonly written: number;
}

export function usageBeside(protocol: ProtocolEndpoint, reported: UsageReport): JsonObject {
  const { speed, geo, tier, searches, passes, model, prompt, output, written } = reported;
  if (protocol === 'messages')
    return {
      speed,
      inference_geo: geo ?? null,
      service_tier: tier === 'priority' ? 'priority' : 'standard',
      ...(searches > 0 && { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } }),
      iterations: [
        ...passes.map(({ type, model: own, input, output: written_ }) =>
          iteration(type, own && vendorName(own), input, written_),
        ),
        iteration(model === 'base' ? 'message' : 'fallback_message', vendorName(model), prompt, output),
      ],
    };
  if (written === 0) return {};
  const details = {
    cached_tokens: 0,
    cache_write_tokens: written,
    cache_write_tokens_details: { ttl_12h_tokens: written, ttl_30m_tokens: 0 },
  };
  return protocol === 'responses' ? { input_tokens_details: details } : { prompt_tokens_details: details };
}

const iteration = (type: string, model: string | undefined, input: number, output: number): JsonObject => ({
  type,
  ...(model !== undefined && { model }),
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation: null,
});

/** As the channel maps it. */
export const vendorName = (model: string): string => `${model}-2026`;

export function responseBeside(
  protocol: ProtocolEndpoint,
  { tier, model, searches, images }: Pick<UsageReport, 'tier' | 'model' | 'searches'> & { readonly images: number },
): JsonObject {
  const common = { model: vendorName(model) };
  if (protocol === 'messages') return common;
  const withTier = { ...common, service_tier: tier ?? 'default' };
  if (protocol === 'chat-completions' || searches + images === 0) return withTier;
  const [read, written] = [IMAGE.text * images, IMAGE.output * images];
  const image_gen = {
    input_tokens: read,
    output_tokens: written,
    total_tokens: read + written,
    input_tokens_details: { image_tokens: 0, text_tokens: read },
  };
  return { ...withTier, tool_usage: { image_gen, web_search: { num_requests: searches } } };
}

const PROMPTS = ['prompt_tokens', 'input_tokens'];
const COMPLETIONS = ['completion_tokens', 'output_tokens'];
const TOTALS = [...PROMPTS, ...COMPLETIONS, 'total_tokens'];
const BILLIONS = 10_000_000_000;
/** More output than was sent, and than the request allows. */
const INFLATED = 8000;
const ABOVE_LIMIT = 100;

/** A report as some vendors write it: numbers as text, a part left out, without end, too large, nothing, or not at all. */
export function lie(
  totals: JsonObject,
  { usage: beside, limit }: { readonly usage: JsonObject; readonly limit: number },
  ending: VendorEnding,
): JsonObject | undefined {
  const changed = (names: readonly string[], change: (value: unknown) => unknown): JsonObject =>
    Object.fromEntries(
      Object.entries(totals).map(([name, value]) => [name, names.includes(name) ? change(value) : value]),
    );
  switch (ending) {
    case 'text for numbers':
      return { ...changed(TOTALS, String), ...beside };
    case 'unreported':
      return undefined;
    case 'half reported':
      return changed(COMPLETIONS, () => undefined);
    case 'zeros':
      return changed(TOTALS, () => 0);
    case 'billions':
      return changed(PROMPTS, () => BILLIONS);
    case 'inflated':
      return changed(COMPLETIONS, () => Math.min(limit + ABOVE_LIMIT, INFLATED));
    default:
      return { ...totals, ...beside };
  }
}
