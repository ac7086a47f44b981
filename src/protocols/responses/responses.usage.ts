import { countIn, objectIn, withParts, type TokenUsage } from '../../call/index.js';
import type { JsonObject } from '../../shared/index.js';

/** The usage of a response; undefined when there is none to speak of. Input includes what was cached. */
export function responsesUsage(usage: JsonObject | undefined): TokenUsage | undefined {
  const input = countIn(usage, 'input_tokens');
  const output = countIn(usage, 'output_tokens');
  if (input === undefined && output === undefined) return undefined;
  const details = objectIn(usage, 'input_tokens_details');
  return withParts({
    input: input ?? 0,
    cacheRead: countIn(details, 'cached_tokens') ?? 0,
    cacheWrite: countIn(details, 'cache_write_tokens') ?? 0,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: countIn(objectIn(usage, 'output_tokens_details'), 'reasoning_tokens') ?? 0,
  });
}
