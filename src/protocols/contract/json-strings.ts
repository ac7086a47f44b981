import type { Buffer } from 'node:buffer';
import { BACKSLASH, invalidJson, QUOTE, SPACE, stopByteIn, stopFrom } from './json-text.js';
import { CacheMarkFinder, isTypeKey, MediaFinder, PromptContent } from './prompt-content.js';

/** Shorter strings are read byte by byte, which is faster. */
const MAX_SHORT_BYTES = 32;
/** A name of ten escaped characters. */
const MAX_ESCAPED_NAME_BYTES = 62;

/**
 * Finds the ends of strings as they arrive, remembers the last member name, and detects content other than text. Does
 * not check escapes. One object for all strings, with everything passed in: a body may have as many strings as bytes.
 */
export class JsonStrings {
  readonly content = new PromptContent();
  readonly media = new MediaFinder();
  readonly cacheMarks = new CacheMarkFinder();
  /** The current string: start of its content, and position read so far. */
  start = 0;
  at = 0;
  private escaped = false;
  /** The last name, including quotes. */
  nameStart = 0;
  nameEnd = 0;
  nameEscaped = false;

  /** A string begins at this quote. */
  begin(quote: number): void {
    this.start = this.at = quote + 1;
    this.escaped = false;
  }

  /**
   * Continues. True at the closing quote, at position `at`; false if incomplete.
   * @param words the body's memory, from `wordsOf`
   * @throws AppError invalid_request at a control character
   */
  next(body: Buffer, words: Int32Array): boolean {
    return this.readShort(body) || this.read(body, words);
  }

  /** The finished string is a member name. */
  endName(): void {
    this.nameStart = this.start - 1;
    this.nameEnd = this.at + 1;
    this.nameEscaped = this.escaped;
  }

  /** The last name, decoded; empty if long. */
  nameIn(body: Buffer): string {
    const { nameStart, nameEnd, nameEscaped } = this;
    if (nameEnd - nameStart > (nameEscaped ? MAX_ESCAPED_NAME_BYTES : MAX_SHORT_BYTES)) return '';
    const name = body.toString('latin1', nameStart, nameEnd);
    return nameEscaped ? decodedName(name) : name.slice(1, -1);
  }

  /** An object or array is the value of the last named member, at this depth. */
  openMember(body: Buffer, depth: number, isObject: boolean): void {
    this.content.open(body, depth, this.nameStart, this.nameEnd, isObject);
    this.cacheMarks.open(body, this);
  }

  /** The finished string is the value of the last named member, at this depth. */
  endMember(body: Buffer, depth: number): void {
    const { content, media, nameStart, nameEnd, nameEscaped } = this;
    if (media.depth === depth) media.string(body, this.start, this.at, this);
    this.cacheMarks.member(body, this.start - 1, this.at + 1, this.escaped);
    if (isTypeKey(body, nameStart, nameEnd, nameEscaped)) content.type(body, this.start - 1, this.at + 1, this.escaped);
    else content.member(body, nameStart, nameEnd, nameEscaped, this.start - 1, this.at + 1);
  }

  /** Reads a short string without escapes. False for others, of which only the beginning is read. */
  private readShort(body: Buffer): boolean {
    const to = Math.min(this.start + MAX_SHORT_BYTES, body.length);
    const at = (this.at = stopByteIn(body, this.at, to));
    return at < to && body[at] === QUOTE;
  }

  private read(body: Buffer, words: Int32Array): boolean {
    const { length } = body;
    let { at } = this;
    // Conservative for long strings: it is rarely needed.
    this.escaped = true;
    for (;;) {
      at = this.at = stopFrom(body, words, at);
      if (at === length) return false;
      let byte = body[at] ?? SPACE;
      if (byte === QUOTE) return true;
      // Escapes often follow each other.
      while (byte === BACKSLASH) {
        // An incomplete escape is left for the next chunk.
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

const controlCharacter = (at: number): Error => invalidJson(at, 'control characters in strings must be escaped');

/** Empty if an escape is invalid: interpreted members are rejected for it. */
function decodedName(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return '';
  }
}
