import { type Buffer, isUtf8 } from 'node:buffer';
import { BACKSLASH, QUOTE, SPACE } from './json-text.js';

// Searches in the strings of JSON. Four bytes are looked at in one go, as one number: when a limit is subtracted from
// each, a byte below it borrows, which sets its top bit; bytes that had that bit before are masked out. A borrow may
// spoil the bytes above, so only the lowest marked byte counts. It is the first one: all platforms here are such.

/** So far behind a stop the next one is looked for: beyond, the native search for a quote is faster. */
const MAX_WALKED_BYTES = 128;

/**
 * 1 for the bytes that no string contains as they are, or that end it. Looked up, because a constant of another module
 * is loaded anew for every byte: comparing with those, a body of short strings took some 20 % longer.
 */
const STOPS = new Uint8Array(256).fill(1, 0, SPACE);
STOPS[QUOTE] = 1;
STOPS[BACKSLASH] = 1;

/** The same memory as four-byte words: word `i` holds the bytes from `4 * i` of the underlying ArrayBuffer. */
export const wordsOf = (bytes: Buffer): Int32Array =>
  new Int32Array(bytes.buffer, 0, Math.floor(bytes.buffer.byteLength / 4));

/** The first quote, backslash or control character in `[from, to)`, or `to`: for a few bytes. */
export function stopByteIn(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && STOPS[bytes[at] ?? 0] === 0) at++;
  return at;
}

/**
 * Where to look when a string is read from here: at its next quote, backslash or control character, or where the bytes
 * end. Whole escapes may have been leapt over when that is far away.
 * @param words the bytes' own memory, from `wordsOf`
 */
export function stopFrom(bytes: Buffer, words: Int32Array, from: number): number {
  const { length } = bytes;
  const to = Math.min(from + MAX_WALKED_BYTES, length);
  const stop = stopIn(bytes, words, from, to);
  return stop < to || to === length ? stop : leap(bytes, words, to);
}

function stopIn(bytes: Buffer, words: Int32Array, from: number, to: number): number {
  const offset = bytes.byteOffset;
  const head = Math.min(to, from + (-(offset + from) & 3));
  for (let at = from; at < head; at++) {
    if (STOPS[bytes[at] ?? 0] === 1) return at;
  }
  const lastWord = (offset + to) >>> 2;
  let index = (offset + head) >>> 2;
  for (; index < lastWord; index++) {
    const marks = stopMarks(words[index] ?? 0);
    if (marks !== 0) return index * 4 - offset + lowestMarked(marks);
  }
  return stopByteIn(bytes, Math.max(head, index * 4 - offset), to);
}

/** Goes to the next quote, or to the backslash that escapes it; not beyond a control character. */
function leap(bytes: Buffer, words: Int32Array, from: number): number {
  const quote = bytes.indexOf(QUOTE, from);
  const to = quote === -1 ? bytes.length : quote;
  const control = controlCharacterIn(bytes, words, from, to);
  if (control < to) return control;
  let backslashes = 0;
  while (to - backslashes > from && bytes[to - backslashes - 1] === BACKSLASH) backslashes++;
  return to - (backslashes % 2);
}

/** The first control character in `[from, to)`, or `to`: prose of 30 MB costs some 7 ms. */
function controlCharacterIn(bytes: Buffer, words: Int32Array, from: number, to: number): number {
  const offset = bytes.byteOffset;
  const head = Math.min(to, from + (-(offset + from) & 3));
  const inHead = controlByteIn(bytes, from, head);
  if (inHead < head) return inHead;
  const lastWord = (offset + to) >>> 2;
  let index = (offset + head) >>> 2;
  while (index < lastWord && controlMarks(words[index] ?? 0) === 0) index++;
  return controlByteIn(bytes, Math.max(head, index * 4 - offset), to);
}

function controlByteIn(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] ?? 0) >= SPACE) at++;
  return at;
}

/** Flipping 0x02 puts the quote at 0x20, right above the control characters; flipping 0x5c puts the backslash at 0. */
const stopMarks = (word: number): number =>
  (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;

const controlMarks = (word: number): number => (word - 0x20202020) & ~word & 0x80808080;

/** Which of the four bytes is marked, counted from the lowest. */
const lowestMarked = (marks: number): number => (31 - Math.clz32(marks & -marks)) >>> 3;

/** Checks that bytes are UTF-8 as they arrive, each byte once. */
export class Utf8Check {
  private checkedTo = 0;

  /** False when the body so far, but for a character that has not come whole, is none. */
  next(body: Buffer): boolean {
    return this.check(body, wholeCharactersEnd(body, this.checkedTo));
  }

  /** False when the whole body is none. */
  end(body: Buffer): boolean {
    return this.check(body, body.length);
  }

  private check(body: Buffer, to: number): boolean {
    if (to <= this.checkedTo) return true;
    const from = this.checkedTo;
    this.checkedTo = to;
    return isUtf8(from === 0 && to === body.length ? body : body.subarray(from, to));
  }
}

/** The end of the bytes without a last character of which only the beginning is there. */
function wholeCharactersEnd(bytes: Buffer, from: number): number {
  const { length } = bytes;
  for (let at = length - 1; at >= from && at >= length - 3; at--) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    // A byte that begins a character; the others of a character begin with the bits 10.
    if (byte >= 0xc0) return length - at < characterLength(byte) ? at : length;
  }
  return length;
}

function characterLength(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
