import { Buffer } from 'node:buffer';
import { BACKSLASH, QUOTE, SMALL_I, standsAt, stringText } from './json-text.js';

// How a prompt is recognised that leans on more than its body: items and files that lie with the upstream, and documents
// that it fetches. Looked for in every object of every body, as images are: what cannot be one is told by its length.
// What only looks like it costs a larger hold, never a higher price.

/** Nothing of the kind. */
export const NO_MARKS = 0;
const OUTSIDE = 1;
const DOCUMENT = 2;
const ADDRESS = 4;
const FILE = 8;
const CONTAINER = 16;

/** How many times longer a text is when each of its characters is written as an escape. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;

/** Words with a mark each. */
class MarkedText {
  /** By the bytes that they take in a document, quotes included, where nothing is escaped: all differ in them. */
  private readonly byLength: (Buffer | undefined)[] = [];
  private readonly marks: ReadonlyMap<string, number>;
  private readonly longest: number;

  constructor(marks: Readonly<Record<string, number>>) {
    this.marks = new Map(Object.entries(marks));
    for (const word of this.marks.keys()) this.byLength[word.length + QUOTES_BYTES] = Buffer.from(`"${word}"`);
    this.longest = QUOTES_BYTES + WITH_ESCAPES * Math.max(...[...this.marks.keys()].map(({ length }) => length));
  }

  /**
   * The mark of the string at `[start, end)`, quotes included.
   * @param escaped whether it may contain escapes
   * @throws AppError invalid_request when it is short enough and contains an escape that JSON does not know
   */
  of(body: Buffer, start: number, end: number, escaped: boolean): number {
    const length = end - start;
    if (escaped && length > this.longest) return NO_MARKS;
    if (!escaped) {
      const word = this.byLength[length];
      if (word === undefined || !standsAt(body, start, word)) return NO_MARKS;
    }
    return this.marks.get(stringText(body, start, end, escaped)) ?? NO_MARKS;
  }
}

/** What the `type` of an object says. */
export const TYPE_MARKS = new MarkedText({ item_reference: OUTSIDE, document: DOCUMENT, url: ADDRESS });
/** What the name of a member says that is a string. */
export const NAME_MARKS = new MarkedText({ file_id: OUTSIDE | FILE, file_url: OUTSIDE, container_id: CONTAINER });

/** Whether the marks of all objects of a body say that its prompt leans on more. */
export const leansOutside = (marks: number): boolean =>
  (marks & OUTSIDE) !== 0 || ((marks & DOCUMENT) !== 0 && (marks & ADDRESS) !== 0);

/** Members whose values are a tool's own data: `input` where it is an object, the others whatever they are. */
const TOOL_DATA = [Buffer.from('"input"'), Buffer.from('"input_schema"'), Buffer.from('"input_examples"')];

/** Whether the object or array behind the name at `[start, end)` is a tool's own data, in protocols with such members. */
export function isToolData(body: Buffer, start: number, end: number, isObject: boolean): boolean {
  const [input] = TOOL_DATA;
  const name = TOOL_DATA.find(({ length }) => length === end - start);
  return name !== undefined && (isObject || name !== input) && standsAt(body, start, name);
}

/** The member of a mark whose value is an id of upstream state. */
export function stateMemberOf(mark: number): StateMember | undefined {
  if ((mark & FILE) !== 0) return 'file_id';
  return (mark & CONTAINER) === 0 ? undefined : 'container_id';
}

/** Members that name upstream state, anywhere in the body. */
export type StateMember = 'file_id' | 'container_id';

// How images are recognised in a body, inline or by reference: each is an object whose `type` says so. Looked for in
// every object of every body: what cannot be one is told by its length and first bytes, without being decoded.

/** The types of images in all dialects. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image', 'image_url', 'input_image']);
const TYPE = Buffer.from('"type"');
/** How many times longer a text is when each of its characters is written as an escape. */
const MAX_TYPE_KEY_BYTES = QUOTES_BYTES + WITH_ESCAPES * 'type'.length;
const MAX_IMAGE_TYPE_BYTES = QUOTES_BYTES + WITH_ESCAPES * 'input_image'.length;

/**
 * True when the member's name at `[start, end)`, quotes included, says `type`.
 * @throws AppError invalid_request when it is short enough and contains an escape that JSON does not know
 */
export function isTypeKey(body: Buffer, start: number, end: number, escaped: boolean): boolean {
  if (escaped) return end - start <= MAX_TYPE_KEY_BYTES && stringText(body, start, end, true) === 'type';
  return end - start === TYPE.length && standsAt(body, start, TYPE);
}

/**
 * True when the value at `[start, end)` is a string that names a type of image.
 * @param escaped whether it may contain escapes, if it is a string
 * @throws AppError invalid_request when it might and contains an escape that JSON does not know
 */
export function isImageType(body: Buffer, start: number, end: number, escaped: boolean): boolean {
  if (body[start] !== QUOTE || end - start > MAX_IMAGE_TYPE_BYTES) return false;
  const first = body[start + 1];
  if (first !== SMALL_I && first !== BACKSLASH) return false;
  return IMAGE_TYPES.has(stringText(body, start, end, escaped));
}
