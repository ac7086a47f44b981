import type { Buffer } from 'node:buffer';
import { BACKSLASH, notJson, QUOTE, SPACE } from './json-text.js';
import { MediaFinder } from './declared-media.js';
import { isTypeKey } from './outside-content.js';
import { PromptContent } from './prompt-content.js';
import { stopByteIn, stopFrom } from './string-bytes.js';

/** A string that is no longer is walked by hand, which is faster. */
const MAX_SHORT_BYTES = 32;
/** Names of ten characters, each written as an escape. */
const MAX_ESCAPED_NAME_BYTES = 62;

/**
 * Reads the strings of a document, one after the other, each as it arrives: finds their ends, knows the member's name
 * that was read last, and finds what is no text. What an escape says is not checked. One object for all strings, and
 * everything is passed to it, because a body may have as many strings as bytes.
 */
export class JsonStrings {
  /** What the members say there is beside text. */
  readonly content = new PromptContent();
  /** The encoded images, sounds and files where a protocol declares them. */
  readonly media = new MediaFinder();
  /** Of the string that was begun last: where its content begins, and how far it has been read. */
  start = 0;
  at = 0;
  /** It may contain escapes. */
  private escaped = false;
  /** The name that was read last, quotes included. */
  nameStart = 0;
  nameEnd = 0;
  nameEscaped = false;

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
    return this.readShort(body) || this.read(body, words);
  }

  /** The string that has ended is a member's name. */
  endName(): void {
    this.nameStart = this.start - 1;
    this.nameEnd = this.at + 1;
    this.nameEscaped = this.escaped;
  }

  /** The name that was read last, decoded where it has escapes; empty when it is long. */
  nameIn(body: Buffer): string {
    const { nameStart, nameEnd, nameEscaped } = this;
    if (nameEnd - nameStart > (nameEscaped ? MAX_ESCAPED_NAME_BYTES : MAX_SHORT_BYTES)) return '';
    const name = body.toString('latin1', nameStart, nameEnd);
    return nameEscaped ? decodedName(name) : name.slice(1, -1);
  }

  /** The string that has ended is the value of the member that was named last, within `depth` objects and arrays. */
  endMember(body: Buffer, depth: number): void {
    const { content, media, nameStart, nameEnd, nameEscaped } = this;
    if (media.depth === depth) media.string(body, this.start, this.at, this);
    if (isTypeKey(body, nameStart, nameEnd, nameEscaped)) content.type(body, this.start - 1, this.at + 1, this.escaped);
    else content.member(body, nameStart, nameEnd, nameEscaped, this.start - 1, this.at + 1);
  }

  /** Reads a string that is short and has no escapes. False when it is another, of which only the beginning is read. */
  private readShort(body: Buffer): boolean {
    const to = Math.min(this.start + MAX_SHORT_BYTES, body.length);
    const at = (this.at = stopByteIn(body, this.at, to));
    return at < to && body[at] === QUOTE;
  }

  /** Reads on from stop to stop. */
  private read(body: Buffer, words: Int32Array): boolean {
    const { length } = body;
    let { at } = this;
    // Noted for all that are not short: hardly one of them is ever asked.
    this.escaped = true;
    for (;;) {
      at = this.at = stopFrom(body, words, at);
      if (at === length) return false;
      let byte = body[at] ?? SPACE;
      if (byte === QUOTE) return true;
      // Escapes come in swarms.
      while (byte === BACKSLASH) {
        // One that has not come whole is left for the next time.
        if (at + 1 === length) {
          this.at = at;
          return false;
        }
        if ((body[at + 1] ?? SPACE) < SPACE) throw controlCharacter(at + 1);
        at += 2;
        byte = body[at] ?? SPACE;
      }
      if (byte < SPACE) throw controlCharacter(at);
    }
  }
}

const controlCharacter = (at: number): Error => notJson(at, 'control characters in strings must be escaped');

/** Empty when an escape is invalid: the members that are read are refused for it. */
function decodedName(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return '';
  }
}
