import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';
import { AppError, Secret } from '../platform/shared/index.js';
import { InvalidAccount } from './account.js';

/** Each takes a core for some 50 ms, of a pool of threads that looks up upstreams' names too. */
const AT_ONCE = 2;
/** Whoever comes when so many wait is told to come again: they would wait for seconds. */
const MAX_WAITING = 100;

/** The hash of a password that nobody has: checking against it takes as long as against anybody's. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$c8F1mc8yXQ6Mtol+73yglA$maljNKnaf8AwBY+kn3jHsl0jMUGMguTAPzrxhWKQzTs';

/** Hashes and checks passwords, few at a time: however many strangers try, calls go on. */
@Injectable()
export class Passwords {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** @throws AppError when too many wait */
  hash(password: Secret): Promise<string> {
    return this.inTurn(() => hashPassword(password));
  }

  /**
   * Whether it is the password of this hash. Without a hash the answer is no, and takes as long.
   * @throws AppError when too many wait
   */
  async matches(password: Secret, stored: string | null | undefined): Promise<boolean> {
    const same = await this.inTurn(() => verify(stored ?? NOBODYS, password.reveal()));
    return same && typeof stored === 'string';
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting.length >= MAX_WAITING)
      throw new AppError('server_is_overloaded', 'Too many sign-ins at the moment. Retry shortly.', {
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

/** The words of the passwords that people choose most, and of this place: a password made of them alone is guessed. */
const WORDS: readonly string[] = [
  'password|passwort|passw0rd|pa55word|pass|secret|geheim|letmein|welcome|willkommen|hello|hallo|login|access|master',
  'admin|administrator|root|user|guest|test|testing|default|changeme|change|please|trustno|qwerty|qwertz|azerty|asdfgh',
  'qwertyuiop|qwertzuiop|azertyuiop|asdfghjkl|zxcvbnm|yxcvbnm|qazwsx|wsxedc|edcrfv|qweasd|qweasdzxc|abc|abcd|xyz',
  'iloveyou|love|lovely|loveme|baby|babygirl|princess|prinzessin|sunshine|monkey|dragon|football|fussball|baseball',
  'basketball|soccer|superman|batman|pokemon|starwars|whatever|freedom|flower|butterfly|charlie|michael|jennifer',
  'jordan|thomas|computer|internet|samsung|google|facebook|microsoft|windows|linux|company|summer|winter|spring|autumn',
  'sommer|monday|friday|january|december|switchboard|relay|openai|chatgpt|claude|anthropic|correcthorsebatterystaple',
].flatMap((line) => line.split('|'));

/** What people put for a letter. */
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
/** Characters beside words, or different ones at all, from which on a password is not one of the first to be tried. */
const ENOUGH_OF_ONES_OWN = 6;
const ENOUGH_DIFFERENT = 5;

/** Whose password it is to be. */
interface Owner {
  readonly email: string;
  readonly name: string;
}

/**
 * What is asked of a password that somebody chooses: its length, and that it is not one of the first to be tried. No
 * kinds of characters are asked for.
 * @throws InvalidAccount saying what to enter
 */
export function checkChoice(password: Secret, owner: Owner): void {
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

/** Whether so little is left of it beside well-known words, repetitions and sequences that it is soon guessed. */
function isCommon(password: string, { email, name }: Owner): boolean {
  const text = password.toLowerCase();
  const own = [...email.toLowerCase().split(/[@.+_-]/), email.toLowerCase(), ...name.toLowerCase().split(/\s+/)];
  const words = [...own.filter((word) => word.length >= 3), ...WORDS].toSorted(
    (one, other) => other.length - one.length,
  );
  return [text, text.replaceAll(/[013457@$!]/g, (sign) => LEET[sign] ?? sign)].some(
    (form) => new Set(form).size < ENOUGH_DIFFERENT || remainderOf(form, words).length < ENOUGH_OF_ONES_OWN,
  );
}

/** What is left without the words, without runs of 0123… and abcd…, and with what is repeated said once. */
function remainderOf(text: string, words: readonly string[]): string {
  const rest = words.reduce((left, word) => left.replaceAll(word, ' '), text);
  const unrepeated = rest.replaceAll(/(.{1,6}?)\1{1,}/gu, '$1');
  return withoutRuns(unrepeated)
    .replaceAll(/[\s\p{P}$+<=>^`|~]/gu, '')
    .replaceAll(/^\d{1,4}|\d{1,4}$/g, '');
}

/** Without what counts up or down from character to character for four or more: 3456, dcba, 8901. */
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

/** 1 when the character follows the one before it, -1 when that follows it, else 0; 0 follows 9. */
function stepAt(text: string, index: number): -1 | 0 | 1 {
  const pair = text.slice(Math.max(0, index - 1), index + 1);
  if (pair === '90') return 1;
  if (pair === '09') return -1;
  const step = /^(?:\d\d|[a-z][a-z])$/.test(pair) ? pair.charCodeAt(1) - pair.charCodeAt(0) : 0;
  return step === 1 || step === -1 ? step : 0;
}
