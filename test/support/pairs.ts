/** Every dialect of a client over every dialect of an upstream. */

import { DIALECTS } from './dialects.js';
import type { Dialect } from './scripted-upstream.js';

export interface Pair {
  readonly client: Dialect;
  readonly upstream: Dialect;
  /** The model that only an upstream of that dialect serves. */
  readonly model: string;
}

export const PAIRS: readonly Pair[] = DIALECTS.flatMap((client) =>
  DIALECTS.map((upstream) => ({ client, upstream, model: `over-${upstream}` })),
);

/** The pairs, each with its name, for `describe.each`. */
export const NAMED_PAIRS = PAIRS.map((pair): [string, Pair] => [`${pair.client} over ${pair.upstream}`, pair]);

/** What vendors' models of today can do, each in its own dialect. */
const FLAGS: Readonly<Record<Dialect, string>> = {
  'chat-completions': 'reasoning: true, replayReasoning: true, midSystem: native',
  messages: 'thinkingMode: adaptive',
  responses: 'reasoning: true',
};

/** `over-<dialect>`: `$1` per million in, `$10` out. */
export const pairsCatalog = (baseUrl: string): string => `
models:
${DIALECTS.map(
  (dialect) => `
  - { name: over-${dialect}, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, cache_read: 0.1, output: 10 }] }`,
).join('')}
channels:
${DIALECTS.map(
  (dialect) => `
  - { name: only-${dialect}, protocol: ${dialect}, base_url: "${baseUrl}", credentials: [secret-of-${dialect}],
      models: { over-${dialect}: vendor-${dialect} }, flags: { ${FLAGS[dialect]} } }`,
).join('')}
`;
