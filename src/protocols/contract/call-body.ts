import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { matchesAt } from './json-text.js';
import type { DeclaredMedia } from './prompt-content.js';
import { MAX_WEIGHED_BYTES, maxTokensIn } from './token-estimate.js';

/** Size of a request. */
export interface BodySize {
  readonly bytes: number;
  /** Bytes of encoded images, audio and files, which are not text. */
  readonly encodedBytes: number;
  readonly images: number;
  /** Upper bound of the text's tokens; absent: half of its bytes. */
  readonly maxTextTokens?: number;
  /** Encoded images, audio and files in order; absent if the body was not scanned. */
  readonly media?: readonly DeclaredMedia[];
  /** Number of JSON values; absent if not scanned. */
  readonly values?: number;
  /** The longest cache lifetime requested for parts; absent: none. */
  readonly cacheLifetime?: '5m' | '1h';
}

/** @param media ordered by position */
export function sizeOf(body: Buffer, media: readonly DeclaredMedia[], images: number): BodySize {
  let encodedBytes = 0;
  let maxTextTokens = 0;
  let weighed = 0;
  let from = 0;
  const addText = (to: number): void => {
    const weighedTo = Math.min(to, from + MAX_WEIGHED_BYTES - weighed);
    if (weighedTo > from) maxTextTokens += maxTokensIn(body, from, weighedTo);
    maxTextTokens += to - weighedTo;
    weighed += weighedTo - from;
  };
  for (const { start, end } of media) {
    encodedBytes += end - start;
    addText(start);
    from = end;
  }
  addText(body.length);
  return { bytes: body.length, encodedBytes, images, maxTextTokens, media };
}

/**
 * The bytes of a request. Dropped once no other channel can respond: responses take up to half an hour, and prompts up
 * to 60 MB.
 */
export interface CallBody {
  readonly bytes: Buffer;
  /**
   * Reserves memory for derived data, until called again or the body is dropped. Absent where memory is not limited.
   * @param bytes besides the body's own
   * @throws AppError server_is_overloaded
   */
  reserveBeside?(bytes: number): void;
  /** Input for counting the prompt: all bytes or a sample; undefined if nothing was kept. */
  readonly countable?: Buffer | PromptSample | undefined;
}

/** Undecoded samples of a large body. */
export interface PromptSample {
  readonly texts: readonly string[];
  /** Size of the body divided by that of the samples. */
  readonly share: number;
}

/** Replaces the bytes `[start, end)`; equal bounds insert. */
export interface JsonEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** @throws RangeError as `SplicedBody` */
export function splice(body: Uint8Array, edits: readonly JsonEdit[]): Uint8Array {
  return edits.length === 0 ? body : Buffer.concat(pieces(body, inOrder(body, edits)));
}

/** A body with edits, as pieces: large parts are not copied. */
export class SplicedBody {
  readonly length: number;
  private readonly edits: readonly JsonEdit[];

  /**
   * Edits in any order; insertions at the same position keep theirs.
   * @throws RangeError when edits overlap or are outside the body
   */
  constructor(
    private readonly body: CallBody,
    edits: readonly JsonEdit[] = [],
  ) {
    this.edits = inOrder(body.bytes, edits);
    this.length = this.edits.reduce(
      (length, { start, end, text }) => length + Buffer.byteLength(text) - (end - start),
      body.bytes.length,
    );
  }

  /** In order; views of the body, not copies. */
  pieces(): Uint8Array[] {
    return pieces(this.body.bytes, this.edits);
  }
}

function inOrder(body: Uint8Array, edits: readonly JsonEdit[]): readonly JsonEdit[] {
  const sorted = edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
  let copiedTo = 0;
  for (const { start, end } of sorted) {
    if (start < copiedTo || end < start || end > body.length) {
      throw new RangeError(`The edit of bytes ${start} to ${end} overlaps another or leaves the body.`);
    }
    copiedTo = end;
  }
  return sorted;
}

function pieces(body: Uint8Array, edits: readonly JsonEdit[]): Uint8Array[] {
  const found: Uint8Array[] = [];
  let copiedTo = 0;
  for (const { start, end, text } of edits) {
    found.push(body.subarray(copiedTo, start), Buffer.from(text));
    copiedTo = end;
  }
  found.push(body.subarray(copiedTo));
  return found;
}

/** Prefix of sealed reasoning as a JSON value. */
const SEALED = Buffer.from('"rly1.');
/** Members that may contain it. */
const CARRIERS = ['"signature"', '"data"', '"encrypted_content"'].map((name) => Buffer.from(name));
/** The same in base64, in members that must be base64 and belong to content that stays. */
const SEALED_BASE64 = Buffer.from('"cmx5MS');
const BASE64_CARRIERS = ['"thoughtSignature"', '"thought_signature"'].map((name) => Buffer.from(name));
/** Beyond any conversation; further ones are left to the upstream. */
const MAX_SEALED = 10_000;
const SMALL_R = 0x72;
const SMALL_C = 0x63;
const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;

/** Position of an object: `[start, end)`. */
export interface ObjectPlace {
  readonly start: number;
  readonly end: number;
}

interface NamePosition {
  readonly nameStart: number;
  readonly nameEnd: number;
}

/** Finds sealed reasoning during a scan; `removalEdits` removes elements. */
export class SealFinder {
  /** Array elements that contain some, ordered by end. */
  readonly found: ObjectPlace[] = [];
  /** Values in base64, in order. */
  readonly values: ObjectPlace[] = [];
  /** Depth of the open object that contains one; 0: none. */
  private depth = 0;

  /** The string `[start, end)` is the value of a member at this depth. */
  member(body: Buffer, name: NamePosition, { start, end }: ObjectPlace, depth: number): void {
    const first = body[start + 1];
    if (first === SMALL_R) {
      if (this.depth === 0 && matchesAt(body, start, SEALED) && isNamed(body, name, CARRIERS)) this.depth = depth;
    } else if (first === SMALL_C && matchesAt(body, start, SEALED_BASE64) && isNamed(body, name, BASE64_CARRIERS)) {
      if (this.values.length < MAX_SEALED) this.values.push({ start, end });
    }
  }

  /**
   * The innermost object or array ends.
   * @param isElement of an array: only elements can be removed
   */
  close(start: number, end: number, depth: number, isElement: boolean): void {
    if (this.depth !== depth) return;
    this.depth = 0;
    if (isElement && this.found.length < MAX_SEALED) this.found.push({ start, end });
  }
}

const isNamed = (body: Buffer, { nameStart, nameEnd }: NamePosition, names: readonly Buffer[]): boolean =>
  names.some((name) => name.length === nameEnd - nameStart && matchesAt(body, nameStart, name));

/** Removes elements of arrays and members of objects, each with a comma. @param places in order */
export function removalEdits(body: Buffer, places: readonly ObjectPlace[]): readonly JsonEdit[] {
  const edits: JsonEdit[] = [];
  for (const { start, end } of places) edits.push(removal(body, start, end, edits));
  return edits;
}

/** JSON in place of a sealed object that any upstream can read; undefined: it is removed. */
export type SealedReader = (object: JsonObject) => string | undefined;

/** Bytes of objects that may be readable. */
const READABLE = Buffer.from('"compaction"');

/** Removes objects found by a `SealFinder` from their arrays, or makes them readable. */
export function sealEdits(
  body: Buffer,
  places: readonly ObjectPlace[],
  read: SealedReader = () => undefined,
): readonly JsonEdit[] {
  const edits: JsonEdit[] = [];
  for (const { start, end } of places) {
    const text = readSealed(body.subarray(start, end), read);
    edits.push(text === undefined ? removal(body, start, end, edits) : { start, end, text });
  }
  return edits;
}

function readSealed(bytes: Buffer, read: SealedReader): string | undefined {
  if (!bytes.includes(READABLE)) return undefined;
  const object: unknown = JSON.parse(bytes.toString('utf8'));
  return isJsonObject(object) ? read(object) : undefined;
}

/** Includes the following or else the preceding comma; adjacent removals are merged. */
function removal(body: Buffer, start: number, end: number, edits: JsonEdit[]): JsonEdit {
  // Edits inside it are dropped.
  while ((edits.at(-1)?.start ?? 0) > start) edits.pop();
  const last = edits.at(-1);
  const first = last !== undefined && skip(body, last.end, 1) === start ? (edits.pop() ?? last).start : start;
  const behind = skip(body, end, 1);
  if (body[behind] === COMMA) return { start: first, end: behind + 1, text: '' };
  const before = skip(body, first - 1, -1);
  return { start: body[before] === COMMA ? before : first, end, text: '' };
}

function skip(body: Buffer, from: number, step: 1 | -1): number {
  let at = from;
  while ((body[at] ?? QUOTE) <= SPACE) at += step;
  return at;
}
