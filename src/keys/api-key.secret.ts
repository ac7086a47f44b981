import { hash, randomInt } from 'node:crypto';

const PREFIX = 'sk-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 48 characters of 62: 285 bits. */
const LENGTH = 48;

const IMPORTABLE = /^sk-[\x21-\x7e]{29,509}$/;

/** `sk-` and 48 random letters and digits. `randomInt` is unbiased, unlike a remainder. */
export function generateSecret(): string {
  return PREFIX + Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** The stored SHA-256 of a secret. No slow hash is needed, because secrets are too long to guess. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Identifies a key to people: the first 6 and the last 4 characters. */
export function hintOf(secret: string): string {
  return `${secret.slice(0, 6)}…${secret.slice(-4)}`;
}

/**
 * Whether an external secret can be imported: `sk-`, 32 to 512 printable ASCII characters without spaces. Our own
 * secrets comply.
 */
export function isImportable(secret: string): boolean {
  return IMPORTABLE.test(secret);
}
