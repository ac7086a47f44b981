/** Every protocol of a client over every protocol of an upstream. */

import { CLIENTS, VENDORS } from '../conformance/protocols/index.js';
import { PROTOCOLS } from './protocols.js';
import type { ProtocolEndpoint } from './scripted-steps.js';

export interface Pair<Client extends string = ProtocolEndpoint, Upstream extends string = ProtocolEndpoint> {
  readonly client: Client;
  readonly upstream: Upstream;
  /** The model that only an upstream of that protocol serves. */
  readonly model: string;
}

/** The protocols with the model in the body, over each other: for specs that try many things with each pair. */
export const PAIRS: readonly Pair[] = pairsOf(PROTOCOLS, PROTOCOLS);

/** The pairs, each with its name, for `describe.each`. */
export const NAMED_PAIRS = named(PAIRS);

/** All clients over all vendors, whatever protocols there are, each with its name. */
export const EVERY_NAMED_PAIR = named(
  pairsOf(
    CLIENTS.map(({ id }) => id),
    VENDORS.map(({ id }) => id),
  ),
);

function pairsOf<Client extends string, Upstream extends string>(
  clients: readonly Client[],
  upstreams: readonly Upstream[],
): Pair<Client, Upstream>[] {
  return clients.flatMap((client) => upstreams.map((upstream) => ({ client, upstream, model: `over-${upstream}` })));
}

function named<Named extends Pair<string, string>>(pairs: readonly Named[]): [string, Named][] {
  return pairs.map((pair) => [`${pair.client} over ${pair.upstream}`, pair]);
}

/** `over-<protocol>`: `$1` per million in, `$10` out; with the flags of what vendors' models of today can do, and state that is nobody else's. */
export const pairsCatalog = (baseUrl: string): string => `
models:
${VENDORS.map(
  ({ id }) => `
  - { name: over-${id}, context_window: 200000, max_output_tokens: 64000, groups: [default],
      tool_fees: { web_search: 0, web_fetch: 0, file_search: 0, code_interpreter: 0, code_execution: 0, image_generation: 0, mcp: 0 },
      prices: [{ from_prompt_tokens: 0, input: 1, cache_read: 0.1, output: 10 }] }`,
).join('')}
channels:
${VENDORS.map(
  ({ id, flags }) => `
  - { name: only-${id}, protocol: ${id}, base_url: "${baseUrl}", credentials: [secret-of-${id}],
      models: { over-${id}: vendor-${id} }, flags: ${JSON.stringify({ sharedState: true, ...flags })} }`,
).join('')}
`;
