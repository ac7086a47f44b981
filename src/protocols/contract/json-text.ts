import { Buffer } from 'node:buffer';
import { AppError } from '../../platform/shared/index.js';

export const invalidJson = (at: number, reason: string): AppError =>
  new AppError('invalid_request', `The request body is not valid JSON at byte ${at}: ${reason}.`);

export function matchesAt(body: Buffer, at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index++) {
    if (body[at + index] !== word[index]) return false;
  }
  return true;
}

/**
 * The text of the string at `[start, end)`, including quotes.
 * @param escaped whether it may contain escapes; otherwise nothing is parsed
 * @throws AppError invalid_request when it contains an invalid escape
 */
export function stringText(body: Buffer, start: number, end: number, escaped: boolean): string {
  if (!escaped) return body.toString('utf8', start + 1, end - 1);
  try {
    return String(JSON.parse(body.toString('utf8', start, end)));
  } catch {
    throw invalidJson(start, 'unknown escape sequence in a string');
  }
}

// Bytes of JSON and of server-sent events by character name.

const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const SMALL_F = 0x66;
export const SMALL_I = 0x69;
export const SMALL_N = 0x6e;
export const SMALL_T = 0x74;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

export const isWhiteSpace = (byte: number | undefined): boolean =>
  byte === SPACE || byte === LF || byte === CR || byte === TAB;

// Numbers, `true`, `false` and `null`.

/** By first byte. */
const WORDS: Readonly<Record<number, Uint8Array>> = {
  [SMALL_T]: Buffer.from('true'),
  [SMALL_F]: Buffer.from('false'),
  [SMALL_N]: Buffer.from('null'),
};
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** 1 for bytes of literals. */
const LITERAL = new Uint8Array(256);
for (const character of '0123456789+-.eEtrufalsn') LITERAL[character.charCodeAt(0)] = 1;

export function literalEnd(body: Buffer, from: number): number {
  let at = from;
  while (LITERAL[body[at] ?? 0] === 1) at++;
  return at;
}

export function isLiteral(body: Buffer, start: number, end: number): boolean {
  const first = body[start] ?? 0;
  if (end - start === 1 && first >= DIGIT_0 && first <= DIGIT_9) return true;
  const word = WORDS[first];
  if (word !== undefined && word.length === end - start && matchesAt(body, start, word)) return true;
  return NUMBER.test(body.toString('latin1', start, end));
}
