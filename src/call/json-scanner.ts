import { Buffer } from 'node:buffer';
import { AppError } from '../shared/index.js';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isWhiteSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SMALL_F,
  SMALL_N,
  SMALL_T,
  SPACE,
} from './bytes.js';
import type { BodySize } from './call.js';
import { EncodedText } from './encoded-text.js';
import { isImageType, isTypeKey } from './image-types.js';
import { fold, type JsonInterest } from './json-interests.js';
import { isLiteral, literalEnd } from './json-literal.js';
import { notJson, stringText } from './json-text.js';
import { controlCharacterAt, wordsOf } from './string-bytes.js';
import { Utf8Check } from './utf8-check.js';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Where a value lies in the body: `[start, end)`, quotes and brackets included. */
export interface JsonField {
  readonly start: number;
  readonly end: number;
  readonly kind: JsonKind;
}

/** What one pass over a document found. */
export interface JsonScan {
  /** The interpreted members that are there, by path; the document itself under the empty path. */
  readonly fields: ReadonlyMap<string, JsonField>;
  readonly size: BodySize;
}

const MAX_NESTING_LEVELS = 512;
/** A number that is longer means nothing to anybody, and is read anew each time that more of it has come. */
const MAX_LITERAL_BYTES = 1024;
/** A string is walked by hand for so long: below it the native search costs more than it saves. */
const MAX_WALKED_BYTES = 32;
const NO_BYTES = Buffer.alloc(0);

/** The kind of a value, by its first byte; a number when it is not here. */
const KINDS: Readonly<Record<number, JsonKind>> = {
  [OPEN_BRACE]: 'object',
  [OPEN_BRACKET]: 'array',
  [QUOTE]: 'string',
  [SMALL_T]: 'boolean',
  [SMALL_F]: 'boolean',
  [SMALL_N]: 'null',
};

/**
 * 1 for the bytes that no string contains as they are, or that end it. Looked up, because a constant of another module
 * is loaded anew for every byte: comparing with those, a body of short strings took some 20 % longer.
 */
const STOPS = new Uint8Array(256).fill(1, 0, SPACE);
STOPS[QUOTE] = 1;
STOPS[BACKSLASH] = 1;

/** What may come next: the first byte that is no white space decides. */
const START = 0;
const NAME_OR_END = 1;
const NAME = 2;
const IN_NAME = 3;
const COLON_NEXT = 4;
const VALUE_OR_END = 5;
const VALUE = 6;
const IN_TEXT = 7;
const BEHIND_VALUE = 8;
const END = 9;

/** What is missing when the body ends, by state; any other wants a value. */
const EXPECTED: Readonly<Record<number, string>> = {
  [NAME_OR_END]: 'a member name is expected',
  [NAME]: 'a member name is expected',
  [IN_NAME]: 'a string is not closed',
  [COLON_NEXT]: 'a colon is expected',
  [IN_TEXT]: 'a string is not closed',
  [BEHIND_VALUE]: 'a comma or a closing bracket is expected',
};

/** An interpreted object or array that is not closed yet. */
interface LookedInto {
  readonly interest: JsonInterest;
  readonly start: number;
}

/**
 * Walks a JSON document once, as it arrives, checks its grammar and notes where the interpreted members are. Values are
 * not decoded; what an escape inside a skipped string says is not checked. What one step costs depends on the bytes that
 * are new to it, whatever they say. Everything it throws is an AppError invalid_request.
 */
export class JsonScanner {
  private readonly fields = new Map<string, JsonField>();
  private readonly utf8 = new Utf8Check();
  private readonly encoded = new EncodedText();
  private body: Buffer = NO_BYTES;
  private words: Int32Array | undefined;
  private at = 0;
  private state = START;
  /** The closing brackets that are still owed, the innermost last. */
  private readonly closers: number[] = [];
  /** The interpreted ones among the open objects and arrays: always the outermost levels. */
  private readonly lookedInto: LookedInto[] = [];
  /** Of the value that comes next. */
  private interest: JsonInterest | undefined;
  /** The content of the string that was begun last. */
  private stringStart = 0;
  /** It may contain escapes. */
  private escaped = false;
  /** The name that was read last, quotes included. */
  private nameStart = 0;
  private nameEnd = 0;
  private nameEscaped = false;
  private encodedBytes = 0;
  private images = 0;

  constructor(private readonly root: JsonInterest) {}

  /** Reads on, as far as the body has come: each time the same bytes as before and more. */
  next(body: Buffer): void {
    this.body = body;
    this.words = undefined;
    try {
      if (!this.utf8.next(body)) this.failUtf8();
      this.run();
    } finally {
      // The bytes are not this object's to keep.
      this.body = NO_BYTES;
      this.words = undefined;
    }
  }

  /** The body is complete. */
  end(body: Buffer): JsonScan {
    if (body.length === 0) throw new AppError('invalid_request', 'The request body is empty: send a JSON object.');
    if (!this.utf8.end(body)) this.failUtf8();
    this.next(body);
    if (this.state === START) this.failAtStart(body);
    if (this.state !== END) throw notJson(body.length, EXPECTED[this.state] ?? 'a value is expected');
    const size = { bytes: body.length, encodedBytes: this.encodedBytes, images: this.images };
    return { fields: this.fields, size };
  }

  private run(): void {
    if ((this.state === IN_NAME || this.state === IN_TEXT) && !this.string()) return;
    for (;;) {
      const byte = this.skipWhiteSpace();
      if (byte === undefined || !this.token(byte)) return;
    }
  }

  /** The byte that follows, which is not consumed; undefined when it has not come yet. */
  private skipWhiteSpace(): number | undefined {
    let byte = this.body[this.at];
    while (isWhiteSpace(byte)) byte = this.body[++this.at];
    return byte;
  }

  /** Consumes what begins with this byte. False when the rest of it has not come yet. */
  private token(byte: number): boolean {
    switch (this.state) {
      case VALUE_OR_END:
        if (byte === CLOSE_BRACKET) return this.close();
        return this.value(byte);
      case VALUE:
        return this.value(byte);
      case NAME_OR_END:
        if (byte === CLOSE_BRACE) return this.close();
        return this.name(byte);
      case NAME:
        return this.name(byte);
      case COLON_NEXT:
        return this.colon(byte);
      case BEHIND_VALUE:
        return this.behindValue(byte);
      case START:
        if (byte !== OPEN_BRACE) this.failAtStart(this.body);
        this.interest = this.root;
        return this.open(byte);
      default:
        return this.fail('something follows the closing brace');
    }
  }

  private value(first: number): boolean {
    if (first === QUOTE) {
      this.state = IN_TEXT;
      return this.beginString();
    }
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return this.open(first);
    return this.literal();
  }

  private open(bracket: number): boolean {
    if (this.closers.length >= MAX_NESTING_LEVELS) {
      throw new AppError('invalid_request', `The request body is nested deeper than ${MAX_NESTING_LEVELS} levels.`);
    }
    const isObject = bracket === OPEN_BRACE;
    if (this.interest !== undefined) {
      this.lookedInto.push({ interest: this.interest, start: this.at });
      this.interest = undefined;
    }
    this.closers.push(isObject ? CLOSE_BRACE : CLOSE_BRACKET);
    this.state = isObject ? NAME_OR_END : VALUE_OR_END;
    this.at++;
    return true;
  }

  private close(): boolean {
    this.at++;
    if (this.lookedInto.length === this.closers.length) {
      const closed = this.lookedInto.pop();
      if (closed !== undefined) this.note(closed.interest, closed.start);
    }
    this.closers.pop();
    this.state = this.closers.length === 0 ? END : BEHIND_VALUE;
    return true;
  }

  /** What stands behind a value: the closing bracket, or a comma that promises another value. */
  private behindValue(byte: number): boolean {
    const closer = this.closers[this.closers.length - 1];
    if (byte === closer) return this.close();
    if (byte !== COMMA) this.fail('a comma or a closing bracket is expected');
    this.state = closer === CLOSE_BRACE ? NAME : VALUE;
    this.at++;
    return true;
  }

  private name(byte: number): boolean {
    if (byte !== QUOTE) this.fail('a member name is expected');
    this.state = IN_NAME;
    return this.beginString();
  }

  private colon(byte: number): boolean {
    if (byte !== COLON) this.fail('a colon is expected');
    this.at++;
    this.state = VALUE;
    if (this.lookedInto.length === this.closers.length) this.interest = this.interestInName();
    return true;
  }

  private interestInName(): JsonInterest | undefined {
    const parent = this.lookedInto[this.lookedInto.length - 1]?.interest;
    if (parent === undefined || this.nameEnd - this.nameStart > parent.longestName) return undefined;
    const name = stringText(this.body, this.nameStart, this.nameEnd, this.nameEscaped);
    const interest = parent.members.get(fold(name));
    if (interest === undefined) return undefined;
    if (interest.name !== name) this.failSpelling(interest, name);
    if (this.fields.has(interest.path)) {
      throw new AppError('invalid_request', `${interest.path}: this member is given twice.`, { param: interest.path });
    }
    return interest;
  }

  private note(interest: JsonInterest, start: number): void {
    const kind = KINDS[this.body[start] ?? 0] ?? 'number';
    this.fields.set(interest.path, { start, end: this.at, kind });
  }

  private endValue(start: number): void {
    if (this.interest !== undefined) {
      this.note(this.interest, start);
      this.interest = undefined;
    }
    this.state = BEHIND_VALUE;
  }

  private beginString(): boolean {
    this.stringStart = ++this.at;
    this.escaped = false;
    return this.string();
  }

  /** Reads on in a string. False when its end has not come yet. */
  private string(): boolean {
    let closed = this.walk();
    while (closed === undefined) closed = this.leap();
    if (!closed) {
      // Looked at as it comes, so that its end is no work for more than what came with it.
      if (this.at - this.stringStart > MAX_WALKED_BYTES) this.encoded.next(this.body, this.stringStart, this.at);
      return false;
    }
    if (this.at - this.stringStart > MAX_WALKED_BYTES)
      this.encodedBytes += this.encoded.end(this.body, this.stringStart, this.at);
    this.at++;
    if (this.state === IN_NAME) this.endName();
    else this.endText();
    return true;
  }

  private endName(): void {
    this.nameStart = this.stringStart - 1;
    this.nameEnd = this.at;
    this.nameEscaped = this.escaped;
    this.state = COLON_NEXT;
  }

  private endText(): void {
    const start = this.stringStart - 1;
    if (
      this.closers[this.closers.length - 1] === CLOSE_BRACE &&
      isTypeKey(this.body, this.nameStart, this.nameEnd, this.nameEscaped) &&
      isImageType(this.body, start, this.at, this.escaped)
    ) {
      this.images++;
    }
    this.endValue(start);
  }

  /** Walks a stretch of a string byte by byte: true at its closing quote, false where the body ends, else undefined. */
  private walk(): boolean | undefined {
    const { body } = this;
    const { length } = body;
    const to = Math.min(this.at + MAX_WALKED_BYTES, length);
    let at = this.at;
    for (; at < to; at++) {
      const byte = body[at] ?? 0;
      if (STOPS[byte] === 0) continue;
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) this.failControlCharacter(at);
      this.escaped = true;
      // An escape that has not come whole is left for the next time.
      if (at + 1 === length) {
        this.at = at;
        return false;
      }
      if ((body[++at] ?? SPACE) < SPACE) this.failControlCharacter(at);
    }
    this.at = at;
    if (at < to) return true;
    return at < length ? undefined : false;
  }

  /** Leaps to the next quote, and walks on behind it when it is escaped, since escapes come in swarms. */
  private leap(): boolean | undefined {
    const { body } = this;
    const from = this.at;
    const quote = body.indexOf(QUOTE, from);
    const to = quote === -1 ? body.length : quote;
    const control = controlCharacterAt(body, (this.words ??= wordsOf(body)), from, to);
    if (control < to) this.failControlCharacter(control);
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
    return isEscape ? this.walk() : true;
  }

  private literal(): boolean {
    const start = this.at;
    const end = literalEnd(this.body, start);
    if (end - start > MAX_LITERAL_BYTES) this.fail(`a number is longer than ${MAX_LITERAL_BYTES} digits`);
    // It may go on with what has not come yet; at the end of the body it is never the end.
    if (end === this.body.length) return false;
    if (!isLiteral(this.body, start, end)) this.fail('a value is expected');
    this.at = end;
    this.endValue(start);
    return true;
  }

  private failAtStart([first, second]: Buffer): never {
    if (first === 0xef && second === 0xbb) this.fail('a byte order mark is not allowed', 0);
    throw new AppError('invalid_request', 'The request body is not a JSON object.');
  }

  private failSpelling(interest: JsonInterest, name: string): never {
    const message = `${name}: member names are case-sensitive; write ${interest.path}.`;
    throw new AppError('invalid_request', message, { param: interest.path });
  }

  private failUtf8(): never {
    throw new AppError('invalid_request', 'The request body is not valid UTF-8.');
  }

  private failControlCharacter(at: number): never {
    this.fail('a control character in a string must be escaped', at);
  }

  private fail(reason: string, at: number = this.at): never {
    throw notJson(at, reason);
  }
}
