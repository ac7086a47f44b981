import type { CallBody } from './call-body.js';
import type { CallAffinity, CallHead, OutsideContent } from './call.js';
import { type JsonFields, JsonReader } from './json-fields.js';
import type { JsonInterest } from './json-members.js';
import type { Effort } from './request-demands.js';

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
    end: (body) => {
      const fields = reader.end(body);
      const head = headOf(fields);
      fields.releaseElements();
      return head;
    },
  };
}

// Members with the same meaning in several protocols, which must have them among their interests.

const MAX_TIER_LENGTH = 64;

/** @throws AppError invalid_request when it is not a short string */
export const serviceTierIn = (fields: JsonFields): string | undefined =>
  fields.optionalString('service_tier', { maxLength: MAX_TIER_LENGTH });

const MAX_EFFORT_LENGTH = 64;
/** More different ones than any vendor has. */
const MAX_EFFORTS = 16;

/** @throws AppError invalid_request when it is not a short string */
export const effortIn = (fields: JsonFields, path: string): Effort | undefined =>
  fields.optionalString(path, { maxLength: MAX_EFFORT_LENGTH });

/**
 * The last effort applies; an upstream may apply earlier ones too.
 * @param own of the whole request
 * @param member that changes it from a message or item on: `messages[].output_config.effort`
 * @throws AppError invalid_request when one is not a short string, or when there are too many
 */
export function effortsIn(
  fields: JsonFields,
  own: Effort | undefined,
  member: string,
): Pick<CallHead, 'effort' | 'otherEfforts'> {
  const list = member.slice(0, member.lastIndexOf('[]') + 2);
  const efforts = new Set<Effort | undefined>([own]);
  let effort = own;
  fields.elements(list).forEach(({ members }, index) => {
    const path = member.replace('[]', `[${index}]`);
    effort = fields.stringAt(members.get(member), path, { maxLength: MAX_EFFORT_LENGTH }) ?? effort;
    if (efforts.add(effort).size > MAX_EFFORTS)
      throw fields.refusal(path, 'invalid_value', `must have at most ${MAX_EFFORTS} different values`);
  });
  efforts.delete(effort);
  return efforts.size === 0 ? { effort } : { effort, otherEfforts: [...efforts] };
}

/** Path of the first effort within the prompt. @param member as for `effortsIn` */
export function promptEffortIn(fields: JsonFields, member: string): string | undefined {
  const list = member.slice(0, member.lastIndexOf('[]') + 2);
  const index = fields.elements(list).findIndex(({ members }) => members.has(member));
  return index === -1 ? undefined : member.replace('[]', `[${index}]`);
}

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
