import { hash } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';
import { Secret } from '../platform/shared/index.js';

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 128;

/** The least that OWASP's password storage guide asks of Argon2id: 19 MiB, two passes, one lane. */
const ARGON2ID = {
  algorithm: 2, // Argon2id; the package's enum cannot be read by compilers that see one file at a time
  memoryCost: 19 * 1024,
  timeCost: 2,
  parallelism: 1,
};

/** A password nobody chose: 24 characters with 144 random bits. */
export const generatePassword = (): Secret => new Secret(randomBytes(18).toString('base64url'));

/** Whether it has 12 to 128 characters, as people count them; nothing else is asked of it. */
export function isAcceptablePassword(password: Secret): boolean {
  const { length } = Array.from(password.reveal());
  return length >= MIN_CHARACTERS && length <= MAX_CHARACTERS;
}

/** Argon2id with a random salt, in its usual notation. Takes some 50 ms of a core, off the event loop. */
export const hashPassword = (password: Secret): Promise<string> => hash(password.reveal(), ARGON2ID);
