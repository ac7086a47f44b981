import { v7 } from 'uuid';
import { hash, randomBytes, randomFillSync } from 'node:crypto';

/** The kind of object an ID names, visible in the ID itself. */
export type IdPrefix =
  | 'acc'
  | 'org'
  | 'mem'
  | 'team'
  | 'key'
  | 'req'
  | 'led'
  | 'cod'
  | 'bat'
  | 'chn'
  | 'cst'
  | 'conv'
  | 'item'
  | 'prc'
  | 'prs'
  | 'ses'
  | 'ver'
  | 'idn'
  | 'pse'
  | 'psk'
  | 'reg'
  | 'inv'
  | 'aud'
  | 'top'
  | 'prb'
  | 'ntc'
  | 'minv'
  | 'iss';

/** Bytes of a UUID. */
const UUID_BYTES = 16;
/** Random bytes for many IDs at once: a system call costs more than the rest of an ID. */
const randomness = Buffer.alloc(UUID_BYTES * 256);
let used = randomness.length;
const uuid = Buffer.alloc(UUID_BYTES);

/** `req_` and 32 hexadecimal digits: a UUIDv7, so that IDs sort by creation time in ms. */
export function newId(prefix: IdPrefix, epochMs: number): string {
  if (used === randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  const random = randomness.subarray(used, (used += UUID_BYTES));
  return `${prefix}_${v7({ msecs: epochMs, random }, uuid).toString('hex')}`;
}

/** The creation time of an ID in Unix ms; undefined if the text is not one of our IDs. */
export function idTime(id: string): number | undefined {
  const match = /^[a-z]{3}_([0-9a-f]{12})7[0-9a-f]{19}$/.exec(id);
  return match?.[1] === undefined ? undefined : Number.parseInt(match[1], 16);
}

/** Crockford's base32, without ambiguous letters. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE = new RegExp(`^[${ALPHABET}]+$`);
/** Longer input is rejected unread; leaves room for separators. */
const MAX_TYPED = 200;

/**
 * A code for people to type, in groups of four: `0A1B-2C3D-…`. Unbiased, since 256 is a multiple of 32.
 * @param length characters of 5 bits each
 */
export function generateCode(length: number): string {
  const characters = [...randomBytes(length)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return characters.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/**
 * The hash that is stored and looked up for a typed code, ignoring case, spaces and dashes, and reading O as 0, I and L
 * as 1. SHA-256 suffices, because codes are too long to guess. Undefined if the text cannot be a code of that length.
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
