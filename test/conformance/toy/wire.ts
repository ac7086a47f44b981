import type { JsonObject } from '../../../src/platform/shared/index.js';
import {
  countIn,
  NO_TOKENS,
  objectIn,
  type StopReason,
  type TokenUsage,
  withParts,
} from '../../../src/protocols/contract/index.js';

/** ID of the protocol, in channels and in the usage log. */
export const TELEGRAPH = 'telegraph';

/** Finish reasons, the nearest where there is none. A new reason does not compile until it has a value here. */
export const ENDS: Readonly<Record<StopReason, string>> = {
  end: 'done',
  stop_sequence: 'done',
  pause: 'done',
  compaction: 'done',
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

/** The reverse, from an upstream. Vendors add values: an unknown one must not fail, and reads as a normal end. */
export const stopOf = (end: string): StopReason => STOPS[end] ?? 'end';

/**
 * Usage as reported; undefined if it is missing, so that the relay counts tokens instead of charging zero. Totals of
 * `TokenUsage` include their parts, and so do `read` and `written`. If a vendor reports disjoint counts, add them up.
 */
export function usageIn(response: JsonObject): TokenUsage | undefined {
  const usage = objectIn(response, 'usage');
  const [input, output] = [countIn(usage, 'read'), countIn(usage, 'written')];
  if (input === undefined || output === undefined) return undefined;
  const [cacheRead = 0, reasoning = 0] = [countIn(usage, 'cached'), countIn(usage, 'thought')];
  return withParts({ ...NO_TOKENS, input, cacheRead, output, reasoning });
}

/** The reverse, for a client. */
export const wireUsage = ({ input, cacheRead, output, reasoning }: TokenUsage = NO_TOKENS): Record<string, number> => ({
  read: input,
  cached: cacheRead,
  written: output,
  thought: reasoning,
});
