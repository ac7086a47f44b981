import { Buffer } from 'node:buffer';
import { BACKSLASH, matchesAt, QUOTE, SMALL_I, stringText } from './json-text.js';

/** Position of an ID of upstream state, including quotes. */
export interface StateIdPlace {
  readonly member: StateMember;
  readonly start: number;
  readonly end: number;
  /** Within a tool's own data, in protocols with such members. */
  readonly isToolData: boolean;
}

export const MAX_STATE_IDS = 20_000;

/** Detects non-text content of a document by its string members. */
export class PromptContent {
  /** Inline or by reference. */
  images = 0;
  /** Up to one more than `MAX_STATE_IDS`. */
  readonly stateIds: StateIdPlace[] = [];
  private marks = NO_MARKS;
  /** Depth of the outermost open tool data. */
  private toolDataDepth: number | undefined;

  /** Whether files, items or documents outside the body are referenced. */
  get hasOutsideContent(): boolean {
    return hasOutsideContent(this.marks);
  }

  /** An object or array begins as the value of the member named at `[start, end)`. */
  open(body: Buffer, depth: number, start: number, end: number, isObject: boolean): void {
    if (this.toolDataDepth === undefined && isToolData(body, start, end, isObject)) this.toolDataDepth = depth;
  }

  close(depth: number): void {
    if (this.toolDataDepth === depth) this.toolDataDepth = undefined;
  }

  /**
   * An object's type is the string at `[start, end)`. @throws AppError invalid_request when it has an invalid escape
   */
  type(body: Buffer, start: number, end: number, escaped: boolean): void {
    if (isImageType(body, start, end, escaped)) this.images++;
    else this.marks |= TYPE_MARKS.of(body, start, end, escaped);
  }

  /** An object has a string member. @throws AppError likewise */
  member(body: Buffer, start: number, end: number, escaped: boolean, valueStart: number, valueEnd: number): void {
    const mark = NAME_MARKS.of(body, start, end, escaped);
    if (mark === NO_MARKS) return;
    this.marks |= mark;
    const member = stateMemberOf(mark);
    if (member !== undefined && this.stateIds.length <= MAX_STATE_IDS)
      this.stateIds.push({
        member,
        start: valueStart,
        end: valueEnd,
        isToolData: this.toolDataDepth !== undefined,
      });
  }
}

// Prompts with content outside the body: items and files stored upstream, and documents it fetches. Every object of
// every body is checked, mostly by length only. False positives cost a larger hold, never a higher price.

export const NO_MARKS = 0;
const OUTSIDE = 1;
const DOCUMENT = 2;
const ADDRESS = 4;
const FILE = 8;
const CONTAINER = 16;

/** Max growth of a string when every character is escaped. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;

/** Maps words to bit masks. */
class MarkedText {
  /** By length in bytes including quotes, unescaped: all lengths differ. */
  private readonly byLength: (Buffer | undefined)[] = [];
  private readonly marks: ReadonlyMap<string, number>;
  private readonly longest: number;

  constructor(marks: Readonly<Record<string, number>>) {
    this.marks = new Map(Object.entries(marks));
    for (const word of this.marks.keys()) this.byLength[word.length + QUOTES_BYTES] = Buffer.from(`"${word}"`);
    this.longest = QUOTES_BYTES + WITH_ESCAPES * Math.max(...[...this.marks.keys()].map(({ length }) => length));
  }

  /**
   * The mark of the string at `[start, end)`, including quotes.
   * @param escaped whether it may contain escapes
   * @throws AppError invalid_request when it is short enough and contains an invalid escape
   */
  of(body: Buffer, start: number, end: number, escaped: boolean): number {
    const length = end - start;
    if (escaped && length > this.longest) return NO_MARKS;
    if (!escaped) {
      const word = this.byLength[length];
      if (word === undefined || !matchesAt(body, start, word)) return NO_MARKS;
    }
    return this.marks.get(stringText(body, start, end, escaped)) ?? NO_MARKS;
  }
}

/** By the `type` of an object. */
export const TYPE_MARKS = new MarkedText({ item_reference: OUTSIDE, document: DOCUMENT, url: ADDRESS });
/** By the name of a string member. */
export const NAME_MARKS = new MarkedText({ file_id: OUTSIDE | FILE, file_url: OUTSIDE, container_id: CONTAINER });

/** @param marks of a whole body */
export const hasOutsideContent = (marks: number): boolean =>
  (marks & OUTSIDE) !== 0 || ((marks & DOCUMENT) !== 0 && (marks & ADDRESS) !== 0);

/** Members with a tool's own data: `input` if it is an object, the others always. */
const TOOL_DATA = [Buffer.from('"input"'), Buffer.from('"input_schema"'), Buffer.from('"input_examples"')];

/** Whether the member named at `[start, end)` contains a tool's own data. */
export function isToolData(body: Buffer, start: number, end: number, isObject: boolean): boolean {
  const [input] = TOOL_DATA;
  const name = TOOL_DATA.find(({ length }) => length === end - start);
  return name !== undefined && (isObject || name !== input) && matchesAt(body, start, name);
}

/** By the mark of its name. */
export function stateMemberOf(mark: number): StateMember | undefined {
  if ((mark & FILE) !== 0) return 'file_id';
  return (mark & CONTAINER) === 0 ? undefined : 'container_id';
}

/** Members that name upstream state, anywhere in the body. */
export type StateMember = 'file_id' | 'container_id';

// Images, inline or by reference, by the `type` of their object. Every object of every body is checked, mostly by
// length and first bytes.

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image', 'image_url', 'input_image']);
const TYPE = Buffer.from('"type"');
/** With every character escaped. */
const MAX_TYPE_KEY_BYTES = QUOTES_BYTES + WITH_ESCAPES * 'type'.length;
const MAX_IMAGE_TYPE_BYTES = QUOTES_BYTES + WITH_ESCAPES * 'input_image'.length;

/**
 * Whether the name at `[start, end)`, including quotes, is `type`.
 * @throws AppError invalid_request when it is short enough and contains an invalid escape
 */
export function isTypeKey(body: Buffer, start: number, end: number, escaped: boolean): boolean {
  if (escaped) return end - start <= MAX_TYPE_KEY_BYTES && stringText(body, start, end, true) === 'type';
  return end - start === TYPE.length && matchesAt(body, start, TYPE);
}

/**
 * Whether the value at `[start, end)` is an image type.
 * @param escaped whether it may contain escapes
 * @throws AppError invalid_request when it might be one and contains an invalid escape
 */
export function isImageType(body: Buffer, start: number, end: number, escaped: boolean): boolean {
  if (body[start] !== QUOTE || end - start > MAX_IMAGE_TYPE_BYTES) return false;
  const first = body[start + 1];
  if (first !== SMALL_I && first !== BACKSLASH) return false;
  return IMAGE_TYPES.has(stringText(body, start, end, escaped));
}
