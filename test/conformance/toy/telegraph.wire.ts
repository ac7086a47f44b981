import { countIn, NO_TOKENS, objectIn, type StopReason, type TokenUsage, withParts } from '../../../src/call/index.js';
import type { JsonObject } from '../../../src/shared/index.js';

/** The dialect's own id, for channels and the usage log. */
export const TELEGRAPH = 'telegraph';

/** Why an answer ended, in this dialect's words. */
export const ENDS: Readonly<Record<StopReason, string>> = {
  end: 'done',
  stop_sequence: 'done',
  pause: 'done',
  max_tokens: 'length',
  context: 'length',
  tool_calls: 'tools',
  refusal: 'filter',
  content_filter: 'filter',
};

const STOPS: Readonly<Record<string, StopReason>> = {
  length: 'max_tokens',
  tools: 'tool_calls',
  filter: 'content_filter',
};

/** The same from an upstream. A word that nobody knew when this was written is an end like any other. */
export const stopOf = (end: string): StopReason => STOPS[end] ?? 'end';

/** What an upstream reports; undefined when it does not. `read` includes `cached`, and `written` includes `thought`. */
export function usageIn(answer: JsonObject): TokenUsage | undefined {
  const usage = objectIn(answer, 'usage');
  const [input, output] = [countIn(usage, 'read'), countIn(usage, 'written')];
  if (input === undefined || output === undefined) return undefined;
  const [cacheRead = 0, reasoning = 0] = [countIn(usage, 'cached'), countIn(usage, 'thought')];
  return withParts({ ...NO_TOKENS, input, cacheRead, output, reasoning });
}

/** The same for a client. */
export const wireUsage = ({ input, cacheRead, output, reasoning }: TokenUsage = NO_TOKENS): Record<string, number> => ({
  read: input,
  cached: cacheRead,
  written: output,
  thought: reasoning,
});
