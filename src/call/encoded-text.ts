import type { Buffer } from 'node:buffer';
import { BACKSLASH, EQUALS, SLASH, SMALL_D } from './bytes.js';

/** Shorter strings are counted as text whatever they look like. */
const MIN_PLAIN_BASE64_BYTES = 512;
/** How far a data URL's media type may reach before its payload must begin. */
const MAX_DATA_URL_HEADER_BYTES = 128;
const MAX_PADDING_BYTES = 2;

/** 1 for the characters of base64 and base64url, padding apart. */
const BASE64 = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  BASE64[character.charCodeAt(0)] = 1;
}

/**
 * How many bytes of a JSON string's content are an encoded file rather than text: the payload of a base64 data URL, or
 * the whole of a long string of nothing but base64. A string that only begins so counts as text. One string after the
 * other, each as it arrives.
 */
export class EncodedText {
  /** Where the content of the string that is looked at begins. */
  private start = -1;
  /** Where its payload begins; undefined until that is known. */
  private payload: number | undefined;
  private isDataUrl = false;
  private at = 0;
  private isText = false;

  /** The content so far: `[start, to)`. */
  next(bytes: Buffer, start: number, to: number): void {
    if (start !== this.start) this.begin(start);
    if (this.isText) return;
    if (this.payload === undefined) {
      if (to - start < MAX_DATA_URL_HEADER_BYTES) return;
      this.findPayload(bytes, to);
    }
    this.read(bytes, to);
    // Padding stands at the very end, and an escape that has not come whole is left for the next time.
    if (to - this.at > MAX_PADDING_BYTES) this.isText = true;
  }

  /** The content is complete: its encoded bytes. */
  end(bytes: Buffer, start: number, to: number): number {
    if (start !== this.start) this.begin(start);
    if (this.payload === undefined) this.findPayload(bytes, to);
    if (this.isText || (!this.isDataUrl && to - start < MIN_PLAIN_BASE64_BYTES)) return 0;
    this.read(bytes, to);
    return this.isPadding(bytes, to) ? to - (this.payload ?? start) : 0;
  }

  private begin(start: number): void {
    this.start = start;
    this.payload = undefined;
    this.isDataUrl = false;
    this.isText = false;
  }

  private findPayload(bytes: Buffer, to: number): void {
    const payload = dataUrlPayload(bytes, this.start, to);
    this.isDataUrl = payload !== undefined;
    this.payload = this.at = payload ?? this.start;
  }

  /** Reads on to the first byte that is no base64. */
  private read(bytes: Buffer, to: number): void {
    for (;;) {
      this.at = base64RunEnd(bytes, this.at, to);
      // Some serialisers write every slash as `\/`.
      if (this.at + 1 >= to || bytes[this.at] !== BACKSLASH || bytes[this.at + 1] !== SLASH) return;
      this.at += 2;
    }
  }

  private isPadding(bytes: Buffer, to: number): boolean {
    let { at } = this;
    while (at < to && bytes[at] === EQUALS) at++;
    return at === to && to - this.at <= MAX_PADDING_BYTES;
  }
}

function dataUrlPayload(bytes: Buffer, from: number, to: number): number | undefined {
  if (bytes[from] !== SMALL_D) return undefined;
  const head = bytes.toString('latin1', from, Math.min(to, from + MAX_DATA_URL_HEADER_BYTES));
  if (!head.startsWith('data:')) return undefined;
  const marker = head.indexOf(';base64,');
  return marker === -1 ? undefined : from + marker + ';base64,'.length;
}

function base64RunEnd(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && BASE64[bytes[at] ?? 0] === 1) at++;
  return at;
}
