import type { CallBody } from './call-body.js';
import type { CallAffinity, CallHead, OutsideContent } from './call.js';
import { type JsonFields, JsonReader } from './json-fields.js';
import type { JsonInterest } from './json-interests.js';

/**
 * Reads the head of one call while its body arrives, so that the end of a large body is no more work than its last part.
 * A synchronous state machine: no I/O, no clock. Everything it throws is an AppError invalid_request naming the member
 * at fault; what is wrong with the grammar is told as soon as it is seen.
 */
export interface HeadReader {
  /** The body so far: each time the same bytes as before and more. A short body may do without. */
  next(arrived: Uint8Array): void;
  /** The whole body. */
  end(body: CallBody): CallHead;
}

/** The reader of a dialect that interprets these members; `headOf` is asked once all of them are known. */
export function headReader(interests: JsonInterest, headOf: (fields: JsonFields) => CallHead): HeadReader {
  const reader = new JsonReader(interests);
  return {
    next: (arrived) => reader.next(arrived),
    end: (body) => headOf(reader.end(body)),
  };
}

// Members that mean the same in several dialects, each of which must have them among its interests.

const MAX_TIER_LENGTH = 64;

/** The service tier that is asked for. @throws AppError invalid_request when it is no short text */
export const serviceTierIn = (fields: JsonFields): string | undefined =>
  fields.optionalString('service_tier', { maxLength: MAX_TIER_LENGTH });

/** An answer that nobody waits for could not be settled. @throws AppError invalid_request when one is asked for */
export function refuseBackground(fields: JsonFields): void {
  if (!fields.isTrue('background')) return;
  throw fields.refusal('background', 'unsupported_parameter', 'background responses are not supported; remove it');
}

/** The prompt refers to content stored upstream, of unknown length. */
export const UNKNOWN_CONTENT: OutsideContent = { previousResponseId: undefined };

/** What the prompt leans on, in a dialect that names it inside of messages only. */
export const outsideIn = (fields: JsonFields): OutsideContent | undefined =>
  fields.leansOutside ? UNKNOWN_CONTENT : undefined;

/** What both dialects of OpenAI have: calls with one key are to find each other's prompts in a cache. */
export const PROMPT_CACHE_KEY = 'prompt_cache_key';

/** @param path of the member that tells calls of one cache, for dialects that have one */
export function cacheAffinityIn(fields: JsonFields, path: string): CallAffinity | undefined {
  const cache = fields.hint(path);
  return cache === undefined ? undefined : { cache };
}
