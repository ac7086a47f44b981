import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';
import { AppError, Secret } from '../platform/shared/index.js';
import { InvalidAccount } from './account.js';

/** Each uses a core for about 50 ms, in the thread pool that also resolves host names. */
const AT_ONCE = 2;
/** Further attempts are rejected: they would wait for seconds. */
const MAX_WAITING = 100;

/** Hash of a random password: verifying against it takes as long as for a real account. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$c8F1mc8yXQ6Mtol+73yglA$maljNKnaf8AwBY+kn3jHsl0jMUGMguTAPzrxhWKQzTs';

/** Hashes and verifies passwords with limited concurrency, so that sign-in attempts do not slow down calls. */
@Injectable()
export class Passwords {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** @throws AppError when the queue is full */
  hash(password: Secret): Promise<string> {
    return this.inTurn(() => hashPassword(password));
  }

  /**
   * Verifies a password. Without a hash the result is false, after the same time.
   * @throws AppError when the queue is full
   */
  async matches(password: Secret, stored: string | null | undefined): Promise<boolean> {
    const same = await this.inTurn(() => verify(stored ?? NOBODYS, password.reveal()));
    return same && typeof stored === 'string';
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting.length >= MAX_WAITING)
      throw new AppError('server_is_overloaded', 'Sign-in is busy. Try again in a few seconds.', {
        retryAfterSeconds: 5,
      });
    if (this.running >= AT_ONCE) await new Promise<void>((resume) => this.waiting.push(resume));
    else this.running += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 128;

/** OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. */
const ARGON2ID = {
  algorithm: 2, // Argon2id; the package's enum cannot be read by compilers that see one file at a time
  memoryCost: 19 * 1024,
  timeCost: 2,
  parallelism: 1,
};

/** 24 characters with 144 random bits. */
export const generatePassword = (): Secret => new Secret(randomBytes(18).toString('base64url'));

/** 12 to 128 characters, as people count them; no other requirements. */
export function isAcceptablePassword(password: Secret): boolean {
  const { length } = Array.from(password.reveal());
  return length >= MIN_CHARACTERS && length <= MAX_CHARACTERS;
}

/** Argon2id with a random salt, in PHC notation. Takes about 50 ms of a core, off the event loop. */
export const hashPassword = (password: Secret): Promise<string> => hash(password.reveal(), ARGON2ID);

/** Words of the most common passwords, and of this product: passwords made only of them are rejected. */
const WORDS: readonly string[] = [
  'password|passwort|passw0rd|pa55word|pass|secret|geheim|letmein|welcome|willkommen|hello|hallo|login|access|master',
  'admin|administrator|root|user|guest|test|testing|default|changeme|change|please|trustno|qwerty|qwertz|azerty|asdfgh',
  'qwertyuiop|qwertzuiop|azertyuiop|asdfghjkl|zxcvbnm|yxcvbnm|qazwsx|wsxedc|edcrfv|qweasd|qweasdzxc|abc|abcd|xyz',
  'iloveyou|love|lovely|loveme|baby|babygirl|princess|prinzessin|sunshine|monkey|dragon|football|fussball|baseball',
  'basketball|soccer|superman|batman|pokemon|starwars|whatever|freedom|flower|butterfly|charlie|michael|jennifer',
  'jordan|thomas|computer|internet|samsung|google|facebook|microsoft|windows|linux|company|summer|winter|spring|autumn',
  'sommer|monday|friday|january|december|switchboard|relay|openai|chatgpt|claude|anthropic|correcthorsebatterystaple',
].flatMap((line) => line.split('|'));

/** Substitutions for letters. */
const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};
/** Min characters, or min distinct characters, besides common words. */
const ENOUGH_OF_ONES_OWN = 6;
const ENOUGH_DIFFERENT = 5;

/** The owner of the new password. */
interface PasswordOwner {
  readonly email: string;
  readonly name: string;
}

/**
 * Checks a chosen password: its length, and that it is not easily guessed. No character classes are required.
 * @throws InvalidAccount saying what to enter
 */
export function checkChoice(password: Secret, owner: PasswordOwner): void {
  if (!isAcceptablePassword(password)) {
    const isShort = Array.from(password.reveal()).length < 100;
    throw new InvalidAccount(
      'password',
      isShort ? 'Use at least 12 characters. A sentence works well.' : 'Use at most 128 characters.',
    );
  }
  if (isCommon(password.reveal(), owner))
    throw new InvalidAccount(
      'password',
      'Choose a password that is harder to guess. This one is common or contains your name or email address.',
    );
}

/** Whether too little remains beside common words, repetitions and sequences. */
function isCommon(password: string, { email, name }: PasswordOwner): boolean {
  const text = password.toLowerCase();
  const own = [...email.toLowerCase().split(/[@.+_-]/), email.toLowerCase(), ...name.toLowerCase().split(/\s+/)];
  const words = [...own.filter((word) => word.length >= 3), ...WORDS].toSorted(
    (one, other) => other.length - one.length,
  );
  return [text, text.replaceAll(/[013457@$!]/g, (sign) => LEET[sign] ?? sign)].some(
    (form) => new Set(form).size < ENOUGH_DIFFERENT || remainderOf(form, words).length < ENOUGH_OF_ONES_OWN,
  );
}

/** The text without common words, sequences and repetitions. */
function remainderOf(text: string, words: readonly string[]): string {
  const rest = words.reduce((left, word) => left.replaceAll(word, ' '), text);
  const unrepeated = rest.replaceAll(/(.{1,6}?)\1{1,}/gu, '$1');
  return withoutRuns(unrepeated)
    .replaceAll(/[\s\p{P}$+<=>^`|~]/gu, '')
    .replaceAll(/^\d{1,4}|\d{1,4}$/g, '');
}

/** Removes ascending or descending runs of four or more characters: 3456, dcba, 8901. */
function withoutRuns(text: string): string {
  const steps = Array.from({ length: text.length }, (_, index) => stepAt(text, index));
  let [kept, start] = ['', 0];
  for (let end = 1; end <= text.length; end++) {
    if (end < text.length && steps[end] !== 0 && (end === start + 1 || steps[end] === steps[end - 1])) continue;
    kept += end - start >= 4 ? ' ' : text.slice(start, end);
    start = end;
  }
  return kept;
}

/** 1 for an ascending step, -1 for a descending one, else 0; 0 follows 9. */
function stepAt(text: string, index: number): -1 | 0 | 1 {
  const pair = text.slice(Math.max(0, index - 1), index + 1);
  if (pair === '90') return 1;
  if (pair === '09') return -1;
  const step = /^(?:\d\d|[a-z][a-z])$/.test(pair) ? pair.charCodeAt(1) - pair.charCodeAt(0) : 0;
  return step === 1 || step === -1 ? step : 0;
}
