import { Buffer, isUtf8 } from 'node:buffer';
import { AppError } from '../shared/index.js';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DIGIT_0,
  DIGIT_9,
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
import { isImageType, isTypeKey } from './image-types.js';
import type { JsonInterest } from './json-interests.js';
import { notJson, standsAt, stringText } from './json-text.js';
import { controlCharacterAt, encodedLength, wordsOf } from './string-bytes.js';

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

/** Values are read by recursion: no document may exhaust the stack. */
const MAX_NESTING_LEVELS = 512;
/** A string is walked by hand for so long: below it the native search costs more than it saves. */
const MAX_WALKED_BYTES = 32;
/** The words that are values, by their first byte. */
const WORDS: Readonly<Record<number, Uint8Array>> = {
  [SMALL_T]: Buffer.from('true'),
  [SMALL_F]: Buffer.from('false'),
  [SMALL_N]: Buffer.from('null'),
};
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

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

/** 1 for the bytes that a number, `true`, `false` or `null` may be made of. */
const LITERAL = new Uint8Array(256);
for (const character of '0123456789+-.eEtrufalsn') LITERAL[character.charCodeAt(0)] = 1;

/** Ignores case as the most forgiving parsers do, which also take U+017F for `s` and U+212A for `k`. */
const fold = (name: string): string => name.toUpperCase().toLowerCase();

/**
 * Walks a JSON document once, checks its grammar and notes where the interpreted members are. Values are not decoded;
 * what an escape inside a skipped string says is not checked.
 * @throws AppError invalid_request
 */
export function scanJson(body: Buffer, interests: JsonInterest): JsonScan {
  return new JsonScanner(body, interests).scan();
}

class JsonScanner {
  private readonly fields = new Map<string, JsonField>();
  private readonly words: Int32Array;
  private at = 0;
  /** The string that was walked last may contain escapes. */
  private escaped = false;
  private encodedBytes = 0;
  private images = 0;

  constructor(
    private readonly body: Buffer,
    private readonly root: JsonInterest,
  ) {
    this.words = wordsOf(body);
  }

  scan(): JsonScan {
    const { body } = this;
    if (body.length === 0) throw new AppError('invalid_request', 'The request body is empty: send a JSON object.');
    if (!isUtf8(body)) throw new AppError('invalid_request', 'The request body is not valid UTF-8.');
    if (this.next() !== OPEN_BRACE) this.failAtStart();
    this.value(this.root, 0);
    this.next();
    if (this.at < body.length) this.fail('something follows the closing brace');
    const size = { bytes: body.length, encodedBytes: this.encodedBytes, images: this.images };
    return { fields: this.fields, size };
  }

  /** Skips white space; the byte that follows, which is not consumed. */
  private next(): number | undefined {
    let byte = this.body[this.at];
    while (isWhiteSpace(byte)) byte = this.body[++this.at];
    return byte;
  }

  private value(interest: JsonInterest | undefined, depth: number): void {
    const start = this.at;
    const first = this.body[start];
    if (first === QUOTE) this.string();
    else if (first === OPEN_BRACE) this.object(interest, depth + 1);
    else if (first === OPEN_BRACKET) this.array(depth + 1);
    else this.literal();
    if (interest === undefined) return;
    this.fields.set(interest.path, { start, end: this.at, kind: KINDS[first ?? 0] ?? 'number' });
  }

  private object(interest: JsonInterest | undefined, depth: number): void {
    this.enter(depth);
    if (this.next() === CLOSE_BRACE) {
      this.at++;
      return;
    }
    for (;;) {
      if (this.next() !== QUOTE) this.fail('a member name is expected');
      this.member(interest, depth);
      if (this.isClosed(CLOSE_BRACE)) return;
    }
  }

  private array(depth: number): void {
    this.enter(depth);
    if (this.next() === CLOSE_BRACKET) {
      this.at++;
      return;
    }
    for (;;) {
      this.next();
      this.value(undefined, depth);
      if (this.isClosed(CLOSE_BRACKET)) return;
    }
  }

  private enter(depth: number): void {
    if (depth > MAX_NESTING_LEVELS) {
      throw new AppError('invalid_request', `The request body is nested deeper than ${MAX_NESTING_LEVELS} levels.`);
    }
    this.at++;
  }

  /** Consumes what stands behind a value: the closing bracket, or a comma that promises another value. */
  private isClosed(bracket: number): boolean {
    const byte = this.next();
    if (byte !== bracket && byte !== COMMA) this.fail('a comma or a closing bracket is expected');
    this.at++;
    return byte === bracket;
  }

  private member(parent: JsonInterest | undefined, depth: number): void {
    const start = this.at;
    this.string();
    const end = this.at;
    const escaped = this.escaped;
    if (this.next() !== COLON) this.fail('a colon is expected');
    this.at++;
    this.next();
    const interest = parent === undefined ? undefined : this.interestIn(parent, start, end, escaped);
    const valueStart = this.at;
    this.value(interest, depth);
    if (isTypeKey(this.body, start, end, escaped) && isImageType(this.body, valueStart, this.at, this.escaped)) {
      this.images++;
    }
  }

  private interestIn(parent: JsonInterest, start: number, end: number, escaped: boolean): JsonInterest | undefined {
    if (parent.members.size === 0) return undefined;
    const name = stringText(this.body, start, end, escaped);
    const interest = parent.members.get(fold(name));
    if (interest === undefined) return undefined;
    if (interest.name !== name) this.failSpelling(interest, name);
    if (this.fields.has(interest.path)) {
      throw new AppError('invalid_request', `${interest.path}: this member is given twice.`, { param: interest.path });
    }
    return interest;
  }

  private string(): void {
    const start = ++this.at;
    this.escaped = false;
    let closed = this.walk();
    while (!closed) closed = this.leap();
    if (this.at - start > MAX_WALKED_BYTES) this.encodedBytes += encodedLength(this.body, start, this.at);
    this.at++;
  }

  /** Walks a stretch of a string byte by byte. True when it stopped at the closing quote. */
  private walk(): boolean {
    const { body } = this;
    const to = Math.min(this.at + MAX_WALKED_BYTES, body.length);
    let at = this.at;
    for (; at < to; at++) {
      const byte = body[at] ?? 0;
      if (STOPS[byte] === 0) continue;
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) this.failControlCharacter(at);
      this.escaped = true;
      if ((body[++at] ?? SPACE) < SPACE) this.failControlCharacter(at);
    }
    this.at = at;
    return at < to;
  }

  /** Leaps to the next quote, and walks on behind it when it is escaped, since escapes come in swarms. */
  private leap(): boolean {
    const { body } = this;
    const from = this.at;
    const quote = body.indexOf(QUOTE, from);
    if (quote === -1) this.fail('a string is not closed', body.length);
    const control = controlCharacterAt(body, this.words, from, quote);
    if (control < quote) this.failControlCharacter(control);
    // Saves a search for backslashes: only names and short values are ever asked whether they contain any.
    this.escaped = true;
    let backslashes = 0;
    while (quote - backslashes > from && body[quote - backslashes - 1] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) {
      this.at = quote;
      return true;
    }
    this.at = quote + 1;
    return this.walk();
  }

  private literal(): void {
    const start = this.at;
    while (LITERAL[this.body[this.at] ?? 0] === 1) this.at++;
    const length = this.at - start;
    const first = this.body[start] ?? 0;
    if (length === 1 && first >= DIGIT_0 && first <= DIGIT_9) return;
    const word = WORDS[first];
    if (word !== undefined && word.length === length && standsAt(this.body, start, word)) return;
    if (length === 0 || !NUMBER.test(this.body.toString('latin1', start, this.at))) {
      this.fail('a value is expected', start);
    }
  }

  private failAtStart(): never {
    const [first, second] = this.body;
    if (first === 0xef && second === 0xbb) this.fail('a byte order mark is not allowed', 0);
    throw new AppError('invalid_request', 'The request body is not a JSON object.');
  }

  private failSpelling(interest: JsonInterest, name: string): never {
    const message = `${name}: member names are case-sensitive; write ${interest.path}.`;
    throw new AppError('invalid_request', message, { param: interest.path });
  }

  private failControlCharacter(at: number): never {
    this.fail('a control character in a string must be escaped', at);
  }

  private fail(reason: string, at: number = this.at): never {
    throw notJson(at, reason);
  }
}
