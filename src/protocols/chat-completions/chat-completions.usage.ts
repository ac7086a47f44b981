import { countIn, objectIn, withParts, type TokenUsage } from '../../call/index.js';
import type { JsonObject } from '../../shared/index.js';

/** The usage of a chunk or an answer; undefined when there is none to speak of. Prompt includes what was cached. */
export function chatUsage(usage: JsonObject | undefined): TokenUsage | undefined {
  const input = countIn(usage, 'prompt_tokens');
  const output = countIn(usage, 'completion_tokens');
  if (input === undefined && output === undefined) return undefined;
  const prompt = objectIn(usage, 'prompt_tokens_details');
  return withParts({
    input: input ?? 0,
    cacheRead: countIn(prompt, 'cached_tokens') ?? 0,
    cacheWrite: countIn(prompt, 'cache_write_tokens') ?? 0,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: countIn(objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens') ?? 0,
  });
}
