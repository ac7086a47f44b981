import type { Buffer } from 'node:buffer';
import { type MediaTokens, tokensOfAudio, tokensOfFile, tokensOfImage } from './media-tokens.js';

/** Encoded media at a position that its protocol declares, which is not text. */
export interface DeclaredMedia extends MediaTokens {
  /** Its string without quotes. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'image' | 'audio' | 'file';
}

/** Kinds of objects and arrays on the path to media. */
type Place = 'root' | 'messages' | 'message' | 'parts' | 'part' | 'source' | 'url' | 'audio' | 'file';

/** Nested objects and arrays by member name; for arrays, the kind of their elements. */
const NESTED: Readonly<Partial<Record<Place, Readonly<Record<string, Place>>>>> = {
  root: { messages: 'messages', input: 'messages' },
  message: { content: 'parts', output: 'parts' },
  part: { content: 'parts', source: 'source', image_url: 'url', input_audio: 'audio', file: 'file' },
  source: { content: 'parts' },
};
const ELEMENTS: Readonly<Partial<Record<Place, Place>>> = { messages: 'message', parts: 'part' };

/** Members whose strings are media; for URLs if they are data URLs. */
const MEDIA: Readonly<Partial<Record<Place, Readonly<Record<string, DeclaredMedia['kind'] | 'by source'>>>>> = {
  part: { image_url: 'image', file_data: 'file' },
  source: { data: 'by source' },
  url: { url: 'image' },
  audio: { data: 'audio' },
  file: { file_data: 'file' },
};

/** Shorter strings may as well count as text. */
const MIN_MEDIA_BYTES = 256;
const MAX_SOURCE_BYTES = 1024;
const MAX_NAME_BYTES = 16;
/** Beyond any vendor's limit; further ones count as text. */
const MAX_MEDIA = 10_000;
const SOURCE_TYPE = /"type"\s*:\s*"([^"]*)"/g;
const MEDIA_TYPE = /"media_type"\s*:\s*"([^"]*)"/g;

/** Strings that are media only if their object declares so. */
type Undeclared = { readonly start: number; readonly end: number }[];

/** The last name read, as in `JsonStrings`. */
interface Name {
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

  open(body: Buffer, start: number, depth: number, name: Name): void {
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
    if (place !== 'source' || start === undefined) return;
    const undeclared = this.undeclared.get(depth);
    if (undeclared === undefined) return;
    this.undeclared.delete(depth);
    this.addDeclared(body, start, end, undeclared);
  }

  /** The string `[start, end)`, without quotes, is the value of a member of the innermost object. */
  string(body: Buffer, start: number, end: number, name: Name): void {
    if (end - start < MIN_MEDIA_BYTES || this.found.length >= MAX_MEDIA) return;
    const place = this.path.at(-1);
    const kinds = place && MEDIA[place];
    const kind = kinds && memberOf(kinds, textOf(body, name));
    if (kind === undefined) return;
    if (kind === 'by source') this.noteUndeclared(start, end);
    else if (kind !== 'image' || isDataUrl(body, start)) this.add(body, kind, start, end);
  }

  private noteUndeclared(start: number, end: number): void {
    const noted = this.undeclared.get(this.depth);
    if (noted === undefined) this.undeclared.set(this.depth, [{ start, end }]);
    else noted.push({ start, end });
  }

  /** Requires exactly one plain declaration, so that other readers see the same type. */
  private addDeclared(body: Buffer, start: number, end: number, undeclared: Undeclared): void {
    const [data, ...others] = undeclared;
    if (data === undefined || others.length > 0) return;
    if (end - start - (data.end - data.start) > MAX_SOURCE_BYTES) return;
    const beside = `${body.toString('latin1', start, data.start)}${body.toString('latin1', data.end, end)}`;
    const types = [...beside.matchAll(SOURCE_TYPE)];
    const [mediaType, ...more] = [...beside.matchAll(MEDIA_TYPE)];
    if (beside.includes('\\') || types.length !== 1 || types[0]?.[1] !== 'base64' || more.length > 0) return;
    this.add(body, mediaType?.[1]?.startsWith('image/') === true ? 'image' : 'file', data.start, data.end);
  }

  private add(body: Buffer, kind: DeclaredMedia['kind'], start: number, end: number): void {
    const data = isDataUrl(body, start) ? Math.max(start, body.indexOf(',', start) + 1) : start;
    const payload = body.subarray(Math.min(data, end), end);
    const tokens = { image: tokensOfImage, audio: tokensOfAudio, file: tokensOfFile }[kind](payload);
    this.found.push({ kind, start, end, ...tokens });
  }
}

function placeIn(body: Buffer, parent: Place | undefined, name: Name): Place | undefined {
  if (parent === undefined) return 'root';
  // Some clients send a single part instead of a list.
  const element = ELEMENTS[parent];
  if (element !== undefined) return element;
  const nested = NESTED[parent];
  return nested && memberOf(nested, textOf(body, name));
}

function textOf(body: Buffer, { nameStart, nameEnd, nameEscaped }: Name): string {
  const isLong = nameEnd - nameStart > MAX_NAME_BYTES;
  return nameEscaped || isLong ? '' : body.toString('latin1', nameStart + 1, nameEnd - 1);
}

const memberOf = <T>(members: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

const isDataUrl = (body: Buffer, start: number): boolean => body.toString('latin1', start, start + 5) === 'data:';
