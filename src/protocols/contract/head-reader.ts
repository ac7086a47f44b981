import type { CallBody } from './call-body.js';
import type { CallAffinity, CallHead, OutsideContent } from './call.js';
import { type JsonFields, JsonReader } from './json-fields.js';
import type { JsonInterest } from './json-members.js';

/**
 * Reads the head of a call while its body arrives, so that the end of a large body is cheap. A synchronous state
 * machine without I/O and clock. Throws AppError invalid_request naming the member, as soon as an error is seen.
 */
export interface HeadReader {
  /** The body so far: the previous bytes and more. Optional for short bodies. */
  next(arrived: Uint8Array): void;
  end(body: CallBody): CallHead;
}

export function headReader(interests: JsonInterest, headOf: (fields: JsonFields) => CallHead): HeadReader {
  const reader = new JsonReader(interests);
  return {
    next: (arrived) => reader.next(arrived),
    end: (body) => headOf(reader.end(body)),
  };
}

// Members with the same meaning in several protocols, which must have them among their interests.

const MAX_TIER_LENGTH = 64;

/** @throws AppError invalid_request when it is not a short string */
export const serviceTierIn = (fields: JsonFields): string | undefined =>
  fields.optionalString('service_tier', { maxLength: MAX_TIER_LENGTH });

/** Background responses cannot be settled. @throws AppError invalid_request when one is requested */
export function refuseBackground(fields: JsonFields): void {
  if (!fields.isTrue('background')) return;
  throw fields.refusal('background', 'unsupported_parameter', 'background responses are not supported; remove it');
}

/** The prompt refers to stored content of unknown size. */
export const UNKNOWN_CONTENT: OutsideContent = { previousResponseId: undefined };

/** For protocols that refer to outside content only within messages. */
export const outsideIn = (fields: JsonFields): OutsideContent | undefined =>
  fields.hasOutsideContent ? UNKNOWN_CONTENT : undefined;

/** Calls with the same key share a prompt cache, in both OpenAI protocols. */
export const PROMPT_CACHE_KEY = 'prompt_cache_key';

export function cacheAffinityIn(fields: JsonFields, path: string): CallAffinity | undefined {
  const cache = fields.hint(path);
  return cache === undefined ? undefined : { cache };
}
