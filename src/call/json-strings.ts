import type { Buffer } from 'node:buffer';
import { BACKSLASH, QUOTE, SPACE } from './bytes.js';
import { EncodedText } from './encoded-text.js';
import { isImageType, isTypeKey } from './image-types.js';
import { notJson } from './json-text.js';
import { controlCharacterAt } from './string-bytes.js';

/** A string is walked by hand for so long: below it the native search costs more than it saves. */
const MAX_WALKED_BYTES = 32;
/** A string that is no longer is text, whatever it looks like. */
const MAX_TEXT_BYTES = 32;

/**
 * 1 for the bytes that no string contains as they are, or that end it. Looked up, because a constant of another module
 * is loaded anew for every byte: comparing with those, a body of short strings took some 20 % longer.
 */
const STOPS = new Uint8Array(256).fill(1, 0, SPACE);
STOPS[QUOTE] = 1;
STOPS[BACKSLASH] = 1;

/**
 * Reads the strings of a document, one after the other, each as it arrives: finds their ends, knows the member's name
 * that was read last, and counts what is no text. What an escape says is not checked. One object for all strings, and
 * everything is passed to it, because a body may have as many strings as bytes.
 */
export class JsonStrings {
  /** The bytes of encoded files, and the images, in all texts that have ended. */
  encodedBytes = 0;
  images = 0;
  /** Of the string that was begun last: where its content begins, and how far it has been read. */
  start = 0;
  at = 0;
  /** It may contain escapes. */
  private escaped = false;
  /** The name that was read last, quotes included. */
  nameStart = 0;
  nameEnd = 0;
  nameEscaped = false;
  private readonly encoded = new EncodedText();

  /** A string has its opening quote here. */
  begin(quote: number): void {
    this.start = this.at = quote + 1;
    this.escaped = false;
  }

  /**
   * Reads on. True at the closing quote, which is at `at` then; false when its end has not come yet.
   * @param words the body's memory, from `wordsOf`
   * @throws AppError invalid_request at a control character
   */
  next(body: Buffer, words: Int32Array): boolean {
    let closed = this.walk(body);
    while (closed === undefined) closed = this.leap(body, words);
    if (this.at - this.start > MAX_TEXT_BYTES) {
      if (closed) this.encodedBytes += this.encoded.end(body, this.start, this.at);
      // Looked at as it comes, so that its end is no work for more than what came with it.
      else this.encoded.next(body, this.start, this.at);
    }
    return closed;
  }

  /** The string that has ended is a member's name. */
  endName(): void {
    this.nameStart = this.start - 1;
    this.nameEnd = this.at + 1;
    this.nameEscaped = this.escaped;
  }

  /** The string that has ended is the value of the member that was named last. */
  endMember(body: Buffer): void {
    if (
      isTypeKey(body, this.nameStart, this.nameEnd, this.nameEscaped) &&
      isImageType(body, this.start - 1, this.at + 1, this.escaped)
    ) {
      this.images++;
    }
  }

  /** Walks a stretch of a string byte by byte: true at its closing quote, false where the body ends, else undefined. */
  private walk(body: Buffer): boolean | undefined {
    const { length } = body;
    const to = Math.min(this.at + MAX_WALKED_BYTES, length);
    let at = this.at;
    for (; at < to; at++) {
      const byte = body[at] ?? 0;
      if (STOPS[byte] === 0) continue;
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) throw controlCharacter(at);
      this.escaped = true;
      // An escape that has not come whole is left for the next time.
      if (at + 1 === length) {
        this.at = at;
        return false;
      }
      if ((body[++at] ?? SPACE) < SPACE) throw controlCharacter(at);
    }
    this.at = at;
    if (at < to) return true;
    return at < length ? undefined : false;
  }

  /** Leaps to the next quote, and walks on behind it when it is escaped, since escapes come in swarms. */
  private leap(body: Buffer, words: Int32Array): boolean | undefined {
    const from = this.at;
    const quote = body.indexOf(QUOTE, from);
    const to = quote === -1 ? body.length : quote;
    const control = controlCharacterAt(body, words, from, to);
    if (control < to) throw controlCharacter(control);
    // Saves a search for backslashes: only names and short values are ever asked whether they contain any.
    this.escaped = true;
    let backslashes = 0;
    while (to - backslashes > from && body[to - backslashes - 1] === BACKSLASH) backslashes++;
    const isEscape = backslashes % 2 === 1;
    if (quote === -1) {
      this.at = isEscape ? to - 1 : to;
      return false;
    }
    this.at = isEscape ? quote + 1 : quote;
    return isEscape ? this.walk(body) : true;
  }
}

const controlCharacter = (at: number): Error => notJson(at, 'a control character in a string must be escaped');
