import type { CallAffinity, OutsideContent } from './call.js';
import type { JsonFields } from './json-fields.js';

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
