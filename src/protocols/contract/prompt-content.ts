import { Buffer } from 'node:buffer';
import { BACKSLASH, matchesAt, QUOTE, SMALL_I, stringText } from './json-text.js';
import { type MediaTokens, tokensOfAudio, tokensOfFile, tokensOfImage } from './media-tokens.js';

/** Encoded media at a position that its protocol declares, which is not text. */
export interface DeclaredMedia extends MediaTokens {
  /** Its string without quotes. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'image' | 'audio' | 'file';
}

/** Kinds of objects and arrays on the path to media. */
type Place = 'root' | 'messages' | 'message' | 'parts' | 'part' | 'source' | 'url' | 'audio' | 'file' | 'blob';

/** Nested objects and arrays by member name; for arrays, the kind of their elements. */
const NESTED: Readonly<Partial<Record<Place, Readonly<Record<string, Place>>>>> = {
  root: { messages: 'messages', input: 'messages', contents: 'messages' },
  message: { content: 'parts', output: 'parts', parts: 'parts' },
  part: {
    content: 'parts',
    source: 'source',
    image_url: 'url',
    input_audio: 'audio',
    file: 'file',
    inlineData: 'blob',
    inline_data: 'blob',
    functionResponse: 'message',
    function_response: 'message',
  },
  source: { content: 'parts' },
};
const ELEMENTS: Readonly<Partial<Record<Place, Place>>> = { messages: 'message', parts: 'part' };

/** Members whose strings are media; for URLs if they are data URLs. */
const MEDIA: Readonly<Partial<Record<Place, Readonly<Record<string, DeclaredMedia['kind'] | 'declared'>>>>> = {
  part: { image_url: 'image', file_data: 'file' },
  source: { data: 'declared' },
  blob: { data: 'declared' },
  url: { url: 'image' },
  audio: { data: 'audio' },
  file: { file_data: 'file' },
};

/** Shorter strings may as well count as text. */
const MIN_MEDIA_BYTES = 256;
const MAX_SOURCE_BYTES = 1024;
const MAX_NAME_BYTES = 19;
/** Beyond any vendor's limit; further ones count as text. */
const MAX_MEDIA = 10_000;
const SOURCE_TYPE = /"type"\s*:\s*"([^"]*)"/g;
const MEDIA_TYPE = /"(?:media_type|mime_?[tT]ype)"\s*:\s*"([^"]*)"/g;

/** Strings that are media only if their object declares so. */
type Undeclared = { readonly start: number; readonly end: number }[];

/** The last name read, as in `JsonStrings`. */
interface ReadName {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly nameEscaped: boolean;
}

/**
 * Finds media during a scan. Only known paths from the root count: in tool arguments and elsewhere, the same members
 * are text.
 */
export class MediaFinder {
  readonly found: DeclaredMedia[] = [];
  /** Open objects and arrays on a path to media, outermost first, with their starts. */
  private readonly path: Place[] = [];
  private readonly starts: number[] = [];
  private readonly undeclared = new Map<number, Undeclared>();

  /** Depth of the path; media is only found at this depth. */
  get depth(): number {
    return this.path.length;
  }

  open(body: Buffer, start: number, depth: number, name: ReadName): void {
    if (this.path.length !== depth) return;
    const place = placeIn(body, this.path[depth - 1], name);
    if (place === undefined) return;
    this.path.push(place);
    this.starts.push(start);
  }

  close(body: Buffer, end: number, depth: number): void {
    if (this.path.length !== depth) return;
    const place = this.path.pop();
    const start = this.starts.pop();
    if ((place !== 'source' && place !== 'blob') || start === undefined) return;
    const undeclared = this.undeclared.get(depth);
    if (undeclared === undefined) return;
    this.undeclared.delete(depth);
    this.addDeclared(body, place, { start, end }, undeclared);
  }

  /** The string `[start, end)`, without quotes, is the value of a member of the innermost object. */
  string(body: Buffer, start: number, end: number, name: ReadName): void {
    if (end - start < MIN_MEDIA_BYTES || this.found.length >= MAX_MEDIA) return;
    const place = this.path.at(-1);
    const kinds = place && MEDIA[place];
    const kind = kinds && memberOf(kinds, textOf(body, name));
    if (kind === undefined) return;
    if (kind === 'declared') this.noteUndeclared(start, end);
    else if (kind !== 'image' || isDataUrl(body, start)) this.add(body, kind, start, end);
  }

  private noteUndeclared(start: number, end: number): void {
    const noted = this.undeclared.get(this.depth);
    if (noted === undefined) this.undeclared.set(this.depth, [{ start, end }]);
    else noted.push({ start, end });
  }

  /** Requires exactly one plain declaration, so that other readers see the same type. */
  private addDeclared(
    body: Buffer,
    place: 'source' | 'blob',
    { start, end }: Undeclared[number],
    undeclared: Undeclared,
  ): void {
    const [data, ...others] = undeclared;
    if (data === undefined || others.length > 0) return;
    if (end - start - (data.end - data.start) > MAX_SOURCE_BYTES) return;
    const beside = `${body.toString('latin1', start, data.start)}${body.toString('latin1', data.end, end)}`;
    const types = [...beside.matchAll(SOURCE_TYPE)];
    const isBase64 = place === 'blob' ? types.length === 0 : types.length === 1 && types[0]?.[1] === 'base64';
    const [mediaType, ...more] = [...beside.matchAll(MEDIA_TYPE)];
    if (beside.includes('\\') || !isBase64 || more.length > 0) return;
    const [kind = ''] = mediaType?.[1]?.split('/') ?? [];
    const isAudio = place === 'blob' && kind === 'audio';
    this.add(body, kind === 'image' ? kind : isAudio ? 'audio' : 'file', data.start, data.end);
  }

  private add(body: Buffer, kind: DeclaredMedia['kind'], start: number, end: number): void {
    const data = isDataUrl(body, start) ? Math.max(start, body.indexOf(',', start) + 1) : start;
    const payload = body.subarray(Math.min(data, end), end);
    const tokens = { image: tokensOfImage, audio: tokensOfAudio, file: tokensOfFile }[kind](payload);
    this.found.push({ kind, start, end, ...tokens });
  }
}

function placeIn(body: Buffer, parent: Place | undefined, name: ReadName): Place | undefined {
  if (parent === undefined) return 'root';
  // Some clients send a single part instead of a list.
  const element = ELEMENTS[parent];
  if (element !== undefined) return element;
  const nested = NESTED[parent];
  return nested && memberOf(nested, textOf(body, name));
}

function textOf(body: Buffer, { nameStart, nameEnd, nameEscaped }: ReadName): string {
  const isLong = nameEnd - nameStart > MAX_NAME_BYTES;
  return nameEscaped || isLong ? '' : body.toString('latin1', nameStart + 1, nameEnd - 1);
}

const memberOf = <T>(members: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

const isDataUrl = (body: Buffer, start: number): boolean => body.toString('latin1', start, start + 5) === 'data:';

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
    if (mark === MEDIA_TYPED && matchesAt(body, valueStart, IMAGE)) this.images++;
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

const NO_MARKS = 0;
const OUTSIDE = 1;
const DOCUMENT = 2;
const ADDRESS = 4;
const FILE = 8;
const CONTAINER = 16;
const FILE_URI = 32;
/** Names the media type of content, inline or not. */
const MEDIA_TYPED = 64;

/** Max growth of a string when every character is escaped. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;

/** Maps words to bit masks. */
class MarkedText {
  /** By length in bytes including quotes, unescaped. */
  private readonly byLength: (readonly Buffer[] | undefined)[] = [];
  private readonly marks: ReadonlyMap<string, number>;
  private readonly longest: number;

  constructor(marks: Readonly<Record<string, number>>) {
    this.marks = new Map(Object.entries(marks));
    for (const word of this.marks.keys()) {
      const length = word.length + QUOTES_BYTES;
      this.byLength[length] = [...(this.byLength[length] ?? []), Buffer.from(`"${word}"`)];
    }
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
      const words = this.byLength[length];
      if (words === undefined || !words.some((word) => matchesAt(body, start, word))) return NO_MARKS;
    }
    return this.marks.get(stringText(body, start, end, escaped)) ?? NO_MARKS;
  }
}

/** By the `type` of an object. */
const TYPE_MARKS = new MarkedText({ item_reference: OUTSIDE, document: DOCUMENT, url: ADDRESS });
/** By the name of a string member. */
const NAME_MARKS = new MarkedText({
  file_id: OUTSIDE | FILE,
  file_url: OUTSIDE,
  container_id: CONTAINER,
  fileUri: OUTSIDE | FILE_URI,
  file_uri: OUTSIDE | FILE_URI,
  mimeType: MEDIA_TYPED,
  mime_type: MEDIA_TYPED,
});
const IMAGE = Buffer.from('"image/');

/** @param marks of a whole body */
const hasOutsideContent = (marks: number): boolean =>
  (marks & OUTSIDE) !== 0 || ((marks & DOCUMENT) !== 0 && (marks & ADDRESS) !== 0);

const CACHE_CONTROL = new MarkedText({ cache_control: 1 });
const HOUR = Buffer.from('"1h"');
/** With one or both characters as `\u0031`. */
const isEscapedHour = (length: number): boolean =>
  length === QUOTES_BYTES + 1 + WITH_ESCAPES || length === QUOTES_BYTES + 2 * WITH_ESCAPES;

/** Finds the longest cache lifetime requested anywhere in the body: an upper bound. */
export class CacheMarkFinder {
  private isMarked = false;
  private hasHour = false;

  get cacheLifetime(): '5m' | '1h' | undefined {
    if (!this.isMarked) return undefined;
    return this.hasHour ? '1h' : '5m';
  }

  /** The last name belongs to an object or array. @throws AppError invalid_request when it has an invalid escape */
  open(body: Buffer, { nameStart, nameEnd, nameEscaped }: ReadName): void {
    this.isMarked ||= CACHE_CONTROL.of(body, nameStart, nameEnd, nameEscaped) !== NO_MARKS;
  }

  /** A member is the string at `[start, end)`; with escapes it counts as an hour if its length allows. */
  member(body: Buffer, start: number, end: number, escaped: boolean): void {
    const length = end - start;
    this.hasHour ||= (length === HOUR.length && matchesAt(body, start, HOUR)) || (escaped && isEscapedHour(length));
  }
}

/** Members with a tool's own data: `input` if it is an object, the others always. */
const TOOL_DATA = [Buffer.from('"input"'), Buffer.from('"input_schema"'), Buffer.from('"input_examples"')];

/** Whether the member named at `[start, end)` contains a tool's own data. */
function isToolData(body: Buffer, start: number, end: number, isObject: boolean): boolean {
  const [input] = TOOL_DATA;
  const name = TOOL_DATA.find(({ length }) => length === end - start);
  return name !== undefined && (isObject || name !== input) && matchesAt(body, start, name);
}

/** By the mark of its name. */
function stateMemberOf(mark: number): StateMember | undefined {
  if ((mark & FILE) !== 0) return 'file_id';
  if ((mark & FILE_URI) !== 0) return 'file_uri';
  return (mark & CONTAINER) === 0 ? undefined : 'container_id';
}

/** Members that name upstream state, anywhere in the body. */
export type StateMember = 'file_id' | 'file_uri' | 'container_id';

// Images, inline or by reference, by the `type` of their object or by their media type. Every object of every body is checked, mostly by
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
function isImageType(body: Buffer, start: number, end: number, escaped: boolean): boolean {
  if (body[start] !== QUOTE || end - start > MAX_IMAGE_TYPE_BYTES) return false;
  const first = body[start + 1];
  if (first !== SMALL_I && first !== BACKSLASH) return false;
  return IMAGE_TYPES.has(stringText(body, start, end, escaped));
}
