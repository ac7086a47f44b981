import { Buffer } from 'node:buffer';
import { AppError } from '../../platform/shared/index.js';
import { type BodySize, type ObjectPlace, SealFinder, sizeOf } from './call-body.js';
import { type JsonElement, type JsonField, type JsonInterest, JsonMembers } from './json-members.js';
import { JsonLimits } from './json-limits.js';
import { JsonStrings } from './json-strings.js';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  invalidJson,
  isLiteral,
  isWhiteSpace,
  literalEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  Utf8Check,
  wordsOf,
} from './json-text.js';
import type { StateIdPlace } from './prompt-content.js';

/** Result of a scan. */
export interface JsonScan {
  /** Interpreted members by path; the document itself has the empty path. */
  readonly fields: ReadonlyMap<string, JsonField>;
  /** Elements of interpreted arrays by path: `tools[]`; undefined without any. */
  readonly elements: Map<string, readonly JsonElement[]> | undefined;
  /** Paths of other members, where requested. */
  readonly others: readonly string[];
  /** Size of the request; computed on demand, since responses do not need it. */
  size(body: Buffer): BodySize;
  readonly hasOutsideContent: boolean;
  /** IDs of upstream state anywhere in the body. */
  readonly stateIds: readonly StateIdPlace[];
  /** Objects with sealed reasoning. */
  readonly sealed: readonly ObjectPlace[];
  /** Strings that are sealed reasoning in base64. */
  readonly sealedValues: readonly ObjectPlace[];
}

const MAX_NESTING_LEVELS = 512;
/** Longer numbers are meaningless, and would be re-read with every chunk. */
const MAX_LITERAL_BYTES = 1024;
const NO_BYTES = Buffer.alloc(0);
const NO_WORDS = new Int32Array(0);

/** Parser states; the first byte that is not white space decides. */
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

/** The missing part if the body ends, by state; other states expect a value. */
const EXPECTED: Readonly<Record<number, string>> = {
  [NAME_OR_END]: 'expected a member name',
  [NAME]: 'expected a member name',
  [IN_NAME]: 'unterminated string',
  [COLON_NEXT]: 'expected a colon',
  [IN_TEXT]: 'unterminated string',
  [BEHIND_VALUE]: 'expected a comma or a closing bracket',
};

/**
 * Scans a JSON document once, as it arrives: checks the grammar and records interpreted members. Values are not
 * decoded, and escapes in skipped strings are not checked. Each step costs only its new bytes, whatever they contain.
 * Throws AppError invalid_request.
 */
export class JsonScanner {
  private readonly members: JsonMembers;
  private readonly strings = new JsonStrings();
  private readonly utf8 = new Utf8Check();
  private readonly limits = new JsonLimits();
  private readonly seals = new SealFinder();
  private body: Buffer = NO_BYTES;
  private words: Int32Array = NO_WORDS;
  private at = 0;
  private state = START;
  /** Expected closing brackets, innermost last. */
  private readonly closers: number[] = [];
  /** Their opening positions. */
  private readonly starts: number[] = [];

  constructor(root: JsonInterest) {
    this.members = new JsonMembers(root);
  }

  /** Continues with the body so far: the previous bytes and more. */
  next(body: Buffer): void {
    this.body = body;
    this.words = wordsOf(body);
    try {
      if (!this.utf8.next(body)) this.failUtf8();
      this.run();
    } finally {
      // The scanner does not own the bytes.
      this.body = NO_BYTES;
      this.words = NO_WORDS;
    }
  }

  /** The body is complete. */
  end(body: Buffer): JsonScan {
    if (body.length === 0) throw new AppError('invalid_request', 'The request body is empty. Send a JSON object.');
    if (!this.utf8.end(body)) this.failUtf8();
    this.next(body);
    if (this.state === START) this.failAtStart(body);
    if (this.state !== END) throw invalidJson(body.length, EXPECTED[this.state] ?? 'expected a value');
    const { content } = this.strings;
    const { fields, elements, others } = this.members;
    return {
      fields,
      elements,
      others,
      size: (whole) => this.sizeOf(whole),
      hasOutsideContent: content.hasOutsideContent,
      stateIds: content.stateIds,
      sealed: this.seals.found,
      sealedValues: this.seals.values,
    };
  }

  private sizeOf(body: Buffer): BodySize {
    const { media, content, cacheMarks } = this.strings;
    const { values } = this.limits;
    const { cacheLifetime } = cacheMarks;
    return { ...sizeOf(body, media.found, content.images), values, ...(cacheLifetime && { cacheLifetime }) };
  }

  private run(): void {
    if ((this.state === IN_NAME || this.state === IN_TEXT) && !this.string()) return;
    for (;;) {
      const byte = this.skipWhiteSpace();
      if (byte === undefined || !this.token(byte)) return;
    }
  }

  /** The next byte, not consumed; undefined at the end of what has arrived. */
  private skipWhiteSpace(): number | undefined {
    let byte = this.body[this.at];
    while (isWhiteSpace(byte)) byte = this.body[++this.at];
    return byte;
  }

  /** Consumes a token. False if it is incomplete. */
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
        return this.open(byte);
      default:
        return this.fail('unexpected data after the closing brace');
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
    this.limits.value(this.closers.length);
    if (this.closers.length === 1) this.limits.member(this.strings.nameIn(this.body), !isObject);
    if (this.closers[this.closers.length - 1] === CLOSE_BRACE)
      this.strings.openMember(this.body, this.closers.length, isObject);
    this.members.open(this.at, this.closers.length, !isObject);
    this.strings.media.open(this.body, this.at, this.closers.length, this.strings);
    this.closers.push(isObject ? CLOSE_BRACE : CLOSE_BRACKET);
    this.starts.push(this.at);
    this.state = isObject ? NAME_OR_END : VALUE_OR_END;
    this.at++;
    return true;
  }

  private close(): boolean {
    this.at++;
    this.members.close(this.body, this.closers.length, this.at);
    this.strings.media.close(this.body, this.at, this.closers.length);
    const { closers } = this;
    const start = this.starts.pop() ?? 0;
    this.seals.close(start, this.at, closers.length, closers[closers.length - 2] === CLOSE_BRACKET);
    closers.pop();
    this.strings.content.close(closers.length);
    this.state = this.closers.length === 0 ? END : BEHIND_VALUE;
    return true;
  }

  /** After a value: a closing bracket or a comma. */
  private behindValue(byte: number): boolean {
    const closer = this.closers[this.closers.length - 1];
    if (byte === closer) return this.close();
    if (byte !== COMMA) this.fail('expected a comma or a closing bracket');
    this.state = closer === CLOSE_BRACE ? NAME : VALUE;
    this.at++;
    return true;
  }

  private name(byte: number): boolean {
    if (byte !== QUOTE) this.fail('expected a member name');
    this.state = IN_NAME;
    return this.beginString();
  }

  private colon(byte: number): boolean {
    if (byte !== COLON) this.fail('expected a colon');
    this.at++;
    this.state = VALUE;
    const { nameStart, nameEnd, nameEscaped } = this.strings;
    this.members.name(this.body, this.closers.length, nameStart, nameEnd, nameEscaped);
    return true;
  }

  private beginString(): boolean {
    this.strings.begin(this.at);
    return this.string();
  }

  /** Continues a string. False if it is incomplete. */
  private string(): boolean {
    const { strings } = this;
    if (!strings.next(this.body, this.words)) return false;
    this.at = strings.at + 1;
    if (this.state === IN_NAME) {
      strings.endName();
      this.state = COLON_NEXT;
      return true;
    }
    const depth = this.closers.length;
    if (this.closers[depth - 1] === CLOSE_BRACE) {
      strings.endMember(this.body, depth);
      this.seals.member(this.body, strings, { start: strings.start - 1, end: this.at }, depth);
    }
    return this.endValue(strings.start - 1);
  }

  private literal(): boolean {
    const start = this.at;
    const end = literalEnd(this.body, start);
    if (end - start > MAX_LITERAL_BYTES) this.fail(`a number is longer than ${MAX_LITERAL_BYTES} digits`);
    // The literal may continue; at the end of the body it is incomplete.
    if (end === this.body.length) return false;
    if (!isLiteral(this.body, start, end)) this.fail('expected a value');
    this.at = end;
    return this.endValue(start);
  }

  private endValue(start: number): boolean {
    this.limits.value(this.closers.length);
    this.members.value(this.body, start, this.at, this.closers.length);
    this.state = BEHIND_VALUE;
    return true;
  }

  private failAtStart([first, second]: Buffer): never {
    if (first === 0xef && second === 0xbb) this.fail('a byte order mark is not allowed', 0);
    throw new AppError('invalid_request', 'The request body is not a JSON object.');
  }

  private failUtf8(): never {
    throw new AppError('invalid_request', 'The request body is not valid UTF-8.');
  }

  private fail(reason: string, at: number = this.at): never {
    throw invalidJson(at, reason);
  }
}
