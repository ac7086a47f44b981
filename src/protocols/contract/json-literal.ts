import { Buffer } from 'node:buffer';
import { DIGIT_0, DIGIT_9, SMALL_F, SMALL_N, SMALL_T } from './bytes.js';
import { standsAt } from './json-text.js';

// Numbers, `true`, `false` and `null`: values that end where another byte stands.

/** The words that are values, by their first byte. */
const WORDS: Readonly<Record<number, Uint8Array>> = {
  [SMALL_T]: Buffer.from('true'),
  [SMALL_F]: Buffer.from('false'),
  [SMALL_N]: Buffer.from('null'),
};
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** 1 for the bytes that they may be made of. */
const LITERAL = new Uint8Array(256);
for (const character of '0123456789+-.eEtrufalsn') LITERAL[character.charCodeAt(0)] = 1;

/** Where the bytes end that may be one. */
export function literalEnd(body: Buffer, from: number): number {
  let at = from;
  while (LITERAL[body[at] ?? 0] === 1) at++;
  return at;
}

export function isLiteral(body: Buffer, start: number, end: number): boolean {
  const first = body[start] ?? 0;
  if (end - start === 1 && first >= DIGIT_0 && first <= DIGIT_9) return true;
  const word = WORDS[first];
  if (word !== undefined && word.length === end - start && standsAt(body, start, word)) return true;
  return NUMBER.test(body.toString('latin1', start, end));
}
