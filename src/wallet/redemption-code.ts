import { hash, randomBytes } from 'node:crypto';

/** Crockford's base32: no letter in it can be taken for a digit, nor read as a word by accident. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 28 characters of 5 bits are 140 bits. */
const LENGTH = 28;
const GROUP = 4;

const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);
/** Far longer than a code with anything between its characters: nothing larger is looked into. */
const MAX_TYPED = 200;

/** Seven groups of four characters, `0A1B-2C3D-…`. A byte holds 8 times 32 values, so each character is drawn evenly. */
export function generateCode(): string {
  const characters = [...randomBytes(LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return Array.from({ length: LENGTH / GROUP }, (_, group) =>
    characters.slice(group * GROUP, (group + 1) * GROUP),
  ).join('-');
}

/**
 * What is stored and looked for of a code, however it was typed: in whatever case, with blanks and dashes anywhere, with
 * an O for 0, an I or L for 1. A plain SHA-256 will do, because a code is too long to be guessed. Undefined when the
 * text cannot be a code.
 */
export function hashCode(typed: string): Buffer | undefined {
  if (typed.length > MAX_TYPED) return undefined;
  const code = typed
    .toUpperCase()
    .replaceAll(/[\s\p{Pd}]/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
  return CODE.test(code) ? hash('sha256', code, 'buffer') : undefined;
}
