import { hash, randomInt } from 'node:crypto';

const PREFIX = 'sk-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 48 characters of 62 carry 285 bits. */
const LENGTH = 48;

const IMPORTABLE = /^sk-[\x21-\x7e]{29,509}$/;

/** `sk-` and 48 random letters and digits. `randomInt` draws evenly from a CSPRNG: a remainder would favour some letters. */
export function generateSecret(): string {
  return PREFIX + Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** What is stored of a secret: its SHA-256. A plain hash will do, because the secret is too long to be guessed. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** What people recognise a key by: the first 6 characters and the last 4. */
export function hintOf(secret: string): string {
  return `${secret.slice(0, 6)}…${secret.slice(-4)}`;
}

/**
 * Whether a secret made elsewhere can be taken over: `sk-`, 32 to 512 printable ASCII characters, no blanks. So are all
 * that we make.
 */
export function isImportable(secret: string): boolean {
  return IMPORTABLE.test(secret);
}
