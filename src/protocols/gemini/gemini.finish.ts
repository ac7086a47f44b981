import type { StopReason } from '../contract/index.js';
import { AppError } from '../../platform/shared/index.js';

// https://ai.google.dev/api/generate-content#FinishReason

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['MAX_TOKENS', 'max_tokens'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['IMAGE_OTHER', 'content_filter'],
]);

/**
 * What the model wrote could not be read as an answer, and is not there. These are failures and no ends: whoever got an
 * end would take an answer without its call for the last word, while asked again the model mostly does better.
 */
const REFUSED_FINISHES: readonly string[] = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
];

/** Stands where an answer has not ended. */
const UNSAID = 'FINISH_REASON_UNSPECIFIED';

/** What a candidate says of its end; undefined while there is more to come. */
export const finishIn = (finishReason: unknown): string | undefined =>
  typeof finishReason === 'string' && finishReason !== '' && finishReason !== UNSAID ? finishReason : undefined;

/**
 * Why an answer ended; reasons that nobody knows yet are ends like any other.
 * @throws AppError upstream_error when there is no answer
 */
export function stopReason(finish: string, hasCalls: boolean): StopReason {
  if (REFUSED_FINISHES.includes(finish)) {
    const message = `The upstream model produced an invalid response (${finish}).`;
    throw new AppError('upstream_error', message, { failover: true });
  }
  // It says nothing of calls; clients go on for as long as there are any.
  return STOPS.get(finish) ?? (hasCalls ? 'tool_calls' : 'end');
}
