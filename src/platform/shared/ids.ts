import { v7 } from 'uuid';
import { hash, randomBytes, randomFillSync } from 'node:crypto';

/**
 * What an id names: an account, a key, a request, a ledger entry, a redemption code, a batch of these, a channel, a price version, a
 * process, a session, a verification, a registration, an invitation, a change, a top-up, a problem of a payment, a
 * notice about a key. The prefix lets people tell a request from a key at a glance.
 */
export type IdPrefix =
  | 'acc'
  | 'key'
  | 'req'
  | 'led'
  | 'cod'
  | 'bat'
  | 'chn'
  | 'cst'
  | 'prc'
  | 'prs'
  | 'ses'
  | 'ver'
  | 'reg'
  | 'inv'
  | 'aud'
  | 'top'
  | 'prb'
  | 'ntc';

/** Bytes of a UUID. */
const UUID_BYTES = 16;
/** Taken from the system for many ids at once: asking it costs more than all the rest of an id. */
const randomness = Buffer.alloc(UUID_BYTES * 256);
let used = randomness.length;
const uuid = Buffer.alloc(UUID_BYTES);

/** `req_` and 32 hexadecimal digits: a UUIDv7, so that ids sort by the millisecond they were made in. */
export function newId(prefix: IdPrefix, epochMs: number): string {
  if (used === randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  const random = randomness.subarray(used, (used += UUID_BYTES));
  return `${prefix}_${v7({ msecs: epochMs, random }, uuid).toString('hex')}`;
}

/** The millisecond since 1970 that an id was made in; undefined when the text is not one of our ids. */
export function idTime(id: string): number | undefined {
  const match = /^[a-z]{3}_([0-9a-f]{12})7[0-9a-f]{19}$/.exec(id);
  return match?.[1] === undefined ? undefined : Number.parseInt(match[1], 16);
}

/** Crockford's base32: no letter in it can be taken for a digit, nor read as a word by accident. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE = new RegExp(`^[${ALPHABET}]+$`);
/** Far longer than a code with anything between its characters: nothing larger is looked into. */
const MAX_TYPED = 200;

/**
 * A code for people to type, in groups of four: `0A1B-2C3D-…`. A byte holds 8 times 32 values, so each character is drawn
 * evenly.
 * @param length characters, of 5 bits each
 */
export function generateCode(length: number): string {
  const characters = [...randomBytes(length)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return characters.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/**
 * What is stored and looked for of a code, however it was typed: in whatever case, with blanks and dashes anywhere, with
 * an O for 0, an I or L for 1. A plain SHA-256 will do, because a code is too long to be guessed. Undefined when the
 * text cannot be a code of that length.
 */
export function hashCode(typed: string, length: number): Buffer | undefined {
  if (typed.length > MAX_TYPED) return undefined;
  const code = typed
    .toUpperCase()
    .replaceAll(/[\s\p{Pd}]/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
  return code.length === length && CODE.test(code) ? hash('sha256', code, 'buffer') : undefined;
}
