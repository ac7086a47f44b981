import type { Buffer } from 'node:buffer';
import { BACKSLASH, EQUALS, SLASH, SPACE } from './bytes.js';

/** Shorter strings are counted as text whatever they look like. */
const MIN_PLAIN_BASE64_BYTES = 512;
/** How far a data URL's media type may reach before its payload must begin. */
const MAX_DATA_URL_HEADER_BYTES = 128;

/** 1 for the characters of base64 and base64url, padding apart. */
const BASE64 = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  BASE64[character.charCodeAt(0)] = 1;
}

/** The same memory as four-byte words: word `i` holds the bytes from `4 * i` of the underlying ArrayBuffer. */
export const wordsOf = (bytes: Buffer): Int32Array =>
  new Int32Array(bytes.buffer, 0, Math.floor(bytes.buffer.byteLength / 4));

/**
 * Where the first control character in `[from, to)` is, or `to`. Four bytes at a time: prose of 30 MB costs some 7 ms.
 * @param words the bytes' own memory, from `wordsOf`
 */
export function controlCharacterAt(bytes: Buffer, words: Int32Array, from: number, to: number): number {
  const offset = bytes.byteOffset;
  const firstWord = (offset + from + 3) >>> 2;
  const lastWord = (offset + to) >>> 2;
  if (firstWord >= lastWord) return controlByteAt(bytes, from, to);
  const head = firstWord * 4 - offset;
  const inHead = controlByteAt(bytes, from, head);
  if (inHead < head) return inHead;
  let index = firstWord;
  while (index < lastWord && !hasControlByte(words[index] ?? 0)) index++;
  return controlByteAt(bytes, index * 4 - offset, to);
}

/** Borrows out of a byte below 0x20 set its top bit; bytes from 0x80 up are masked out. */
const hasControlByte = (word: number): boolean => ((word - 0x20202020) & ~word & 0x80808080) !== 0;

function controlByteAt(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] ?? 0) >= SPACE) at++;
  return at;
}

/**
 * How many bytes of a JSON string's content, `[from, to)`, are an encoded file rather than text: the payload of a
 * base64 data URL, or the whole of a long string of nothing but base64. A string that only begins so counts as text.
 */
export function encodedLength(bytes: Buffer, from: number, to: number): number {
  const payload = dataUrlPayload(bytes, from, to);
  if (payload === undefined && to - from < MIN_PLAIN_BASE64_BYTES) return 0;
  const start = payload ?? from;
  return isBase64(bytes, start, to) ? to - start : 0;
}

function dataUrlPayload(bytes: Buffer, from: number, to: number): number | undefined {
  const head = bytes.toString('latin1', from, Math.min(to, from + MAX_DATA_URL_HEADER_BYTES));
  if (!head.startsWith('data:')) return undefined;
  const marker = head.indexOf(';base64,');
  return marker === -1 ? undefined : from + marker + ';base64,'.length;
}

function isBase64(bytes: Buffer, from: number, to: number): boolean {
  let end = to;
  while (end > from && to - end < 2 && bytes[end - 1] === EQUALS) end--;
  let at = from;
  while (at < end) {
    at = base64RunEnd(bytes, at, end);
    if (at === end) return true;
    // Some serialisers write every slash as `\/`.
    if (bytes[at] !== BACKSLASH || bytes[at + 1] !== SLASH) return false;
    at += 2;
  }
  return true;
}

function base64RunEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && BASE64[bytes[at] ?? 0] === 1) at++;
  return at;
}
