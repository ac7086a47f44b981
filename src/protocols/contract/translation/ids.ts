import { createHash } from 'node:crypto';
import type { Call } from '../call.js';

/** The id of a call's answer, as a dialect writes ids: `resp_` and 32 hexadecimal digits. */
export const newResponseId = ({ id }: Call, prefix: string): string => prefix + id.replace(/^req_/, '');

/** The id of one item of it, unlike all others. @param index of the item in the answer */
export const itemId = (call: Call, prefix: string, index: number): string =>
  `${newResponseId(call, prefix)}${index.toString(16).padStart(4, '0')}`;

/** What a dialect allows as a name or an id. */
export interface NameRule {
  readonly maxLength: number;
  /** Matches what is not allowed in it; global. */
  readonly odd: RegExp;
}

const PLAIN_USER = /^[\w.:@-]{1,64}$/;

/** Some clients put more into the name of their user than other dialects have room for, or would show to a stranger. */
export const plainUser = (user: string): string =>
  PLAIN_USER.test(user) ? user : createHash('sha256').update(user).digest('hex');

const DIGEST_LENGTH = 8;

/**
 * The name itself when the rule allows it; otherwise one that it allows, always the same: odd characters replaced, cut,
 * and told apart from all others by a digest.
 */
export function conforming(name: string, { maxLength, odd }: NameRule): string {
  const clean = name.replaceAll(odd, '_');
  if (clean === name && name.length <= maxLength && name !== '') return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_LENGTH);
  return `${clean.slice(0, maxLength - DIGEST_LENGTH - 1)}_${digest}`;
}
