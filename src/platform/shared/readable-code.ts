import { hash, randomBytes } from 'node:crypto';

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
