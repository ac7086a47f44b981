import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CallSignal } from './call.js';
import { CR, LF } from './json-text.js';
import { likelyTokensIn } from './token-estimate.js';

const ASCII = /^[\x20-\x7e]*$/;
/** As Latin-1. */
const BYTE_ORDER_MARK = '\u00EF\u00BB\u00BF';

/** Keep-alive for every protocol: clients skip comments. */
export const KEEP_ALIVE_COMMENT: Uint8Array = Buffer.from(': keepalive\n\n');

/** Position of a line's value, after the field name and one space. */
interface Line {
  readonly start: number;
  readonly end: number;
}

interface EventFields {
  readonly name: Line | undefined;
  readonly data: readonly Line[];
}

/** A server-sent event as received; decoded lazily. */
export class SseEvent {
  #wire: Buffer | undefined;
  #text: string | undefined;
  #fields: EventFields | undefined;

  /** @param raw all bytes, including the final empty line if present */
  constructor(readonly raw: Buffer) {}

  /**
   * The event's bytes for clients, normalized only if they use CR, start with a byte order mark or lack the empty line.
   * Some clients do not recognize CRLF.
   */
  get wire(): Buffer {
    const { text } = this;
    return (this.#wire ??= Buffer.from(text, 'latin1'));
  }

  /** As Latin-1, for fast searches: positions equal those of the bytes. */
  get text(): string {
    if (this.#text === undefined) {
      const text = this.raw.toString('latin1');
      this.#text = isClean(text) ? text : cleaned(text);
      if (this.#text === text) this.#wire = this.raw;
    }
    return this.#text;
  }

  /** The `event:` field. */
  get name(): string | undefined {
    const line = this.fields.name;
    if (line === undefined) return undefined;
    const name = this.text.slice(line.start, line.end);
    return ASCII.test(name) ? name : this.decode(line);
  }

  /** The `data:` fields joined by line feeds; empty if absent. */
  get data(): string {
    const [first, ...others] = this.fields.data;
    if (first === undefined) return '';
    return others.length === 0 ? this.decode(first) : this.fields.data.map((line) => this.decode(line)).join('\n');
  }

  /** Bounds of the data in `text`; -1 if absent. */
  get dataAt(): number {
    return this.fields.data[0]?.start ?? -1;
  }

  get dataEnd(): number {
    return this.fields.data.at(-1)?.end ?? -1;
  }

  /** Neither name nor data: comments, `id:` and `retry:` fields, or nothing. */
  get isComment(): boolean {
    return this.fields.name === undefined && this.fields.data.length === 0;
  }

  private get fields(): EventFields {
    return (this.#fields ??= readFields(this.text));
  }

  private decode(line: Line): string {
    return this.wire.toString('utf8', line.start, line.end);
  }
}

/** An event's bytes with LF: `event:` if named, `data:`, empty line. */
export function renderSse(name: string | undefined, data: string): Buffer {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}${lines.join('')}\n`);
}

/** The same as text, for data of one line. */
export const sseText = (name: string | undefined, line: string): string =>
  name === undefined ? `data: ${line}\n\n` : `event: ${name}\ndata: ${line}\n\n`;

function isClean(text: string): boolean {
  return text.endsWith('\n\n') && !text.includes('\r') && !text.startsWith('\n') && !text.startsWith(BYTE_ORDER_MARK);
}

function cleaned(text: string): string {
  const lines = (text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text).split(/\r\n|\r|\n/);
  return `${lines.filter((line) => line !== '').join('\n')}\n\n`;
}

function readFields(text: string): EventFields {
  let name: Line | undefined;
  const data: Line[] = [];
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const value = valueStart(text, 'data', start, end);
    if (value !== -1) data.push({ start: value, end });
    else name = nameLine(text, start, end) ?? name;
    start = end + 1;
  }
  return { name, data };
}

function nameLine(text: string, start: number, end: number): Line | undefined {
  const value = valueStart(text, 'event', start, end);
  return value === -1 ? undefined : { start: value, end };
}

/** Start of a field's value; -1 for another field. A field without colon is empty. */
function valueStart(text: string, field: string, start: number, end: number): number {
  if (!text.startsWith(field, start)) return -1;
  const colon = start + field.length;
  if (colon === end) return end;
  if (text[colon] !== ':') return -1;
  return text[colon + 1] === ' ' ? colon + 2 : colon + 1;
}

const MAX_PEEKED_BYTES = 64;

/**
 * Estimated output of a piece of a response.
 * @param lane index of interleaved texts
 */
export function outputOf(text: string, lane?: number): Extract<CallSignal, { type: 'output' }> {
  const units = likelyTokensIn(text);
  return lane === undefined ? { type: 'output', units, text } : { type: 'output', units, text, lane };
}

/** Kind of the data by its first and last bytes. An object without closing brace is truncated. */
export function dataKind(event: SseEvent): 'object' | 'done' | 'other' | 'none' {
  const { dataAt: at, dataEnd: end, text } = event;
  if (at === -1) return 'none';
  if (text[at] === '{' && text[end - 1] === '}') return 'object';
  const data = text.slice(at, Math.min(end, at + MAX_PEEKED_BYTES)).trimStart();
  if (data.startsWith('[DONE]')) return 'done';
  const last = text.slice(Math.max(at, end - MAX_PEEKED_BYTES), end).trimEnd();
  return data.startsWith('{') && last.endsWith('}') ? 'object' : 'other';
}

/**
 * Determines the type of an event: by name, else by the first matching `type` member, since some servers do not name
 * events.
 * @param types of interest, alternatives of a regular expression
 */
export function eventTypeReader(types: string): (event: SseEvent) => string | undefined {
  const name = new RegExp(`^(?:${types})$`);
  const member = new RegExp(`"type"\\s*:\\s*"(${types})"`);
  return (event) => (event.name !== undefined && name.test(event.name) ? event.name : member.exec(event.text)?.[1]);
}

export function parseData(event: SseEvent): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(event.data);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/**
 * Splits a stream into events, whatever its chunks. Accepts LF, CRLF and CR. Linear in the bytes, however many chunks
 * an event spans.
 */
export class SseSplitter {
  /** Chunks of the incomplete event. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #lineStart = true;
  /** After a CR: a following LF belongs to it. */
  #afterCr = false;

  /** @param maxEventBytes larger events fail the stream */
  constructor(private readonly maxEventBytes: number = MAX_EVENT_BYTES) {}

  /** Events completed by this chunk. @throws AppError upstream_error when an event is too large */
  next(chunk: Uint8Array): readonly SseEvent[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const plain = !this.#afterCr && !bytes.includes(CR);
    const events: SseEvent[] = [];
    let start = 0;
    while (start < bytes.length) {
      const end = plain ? this.#plainEventEnd(bytes, start) : this.#eventEnd(bytes, start);
      if (end === -1) break;
      events.push(this.#take(bytes.subarray(start, end)));
      start = end;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
    return events;
  }

  /**
   * The event at the end of the stream without its empty line. An unterminated last line counts if its data is
   * complete: JSON or `[DONE]`.
   */
  end(): readonly SseEvent[] {
    if (this.#heldBytes === 0) return [];
    const lineStart = this.#lineStart;
    const event = this.#take(Buffer.alloc(0));
    if (event.isComment) return [];
    return lineStart || isWhole(event.data) ? [event] : [];
  }

  /** End of the next event if lines end with LF; -1 if not in this chunk. */
  #plainEventEnd(bytes: Buffer, start: number): number {
    if (this.#lineStart && bytes[start] === LF) return start + 1;
    let lineStart = start;
    for (;;) {
      const feed = bytes.indexOf(LF, lineStart);
      lineStart = feed + 1;
      this.#lineStart = feed !== -1;
      if (feed === -1 || lineStart === bytes.length) return -1;
      if (bytes[lineStart] === LF) return lineStart + 1;
    }
  }

  /** The same for mixed line ends. */
  #eventEnd(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at];
      const isSecondHalf = byte === LF && this.#afterCr;
      this.#afterCr = byte === CR;
      if (isSecondHalf) continue;
      const endsLine = byte === LF || byte === CR;
      if (!endsLine || !this.#lineStart) {
        this.#lineStart = endsLine;
        continue;
      }
      if (byte === LF || bytes[at + 1] !== LF) return at + 1;
      this.#afterCr = false;
      return at + 2;
    }
    return -1;
  }

  #take(last: Buffer): SseEvent {
    this.#hold(last);
    const raw = this.#held.length === 1 ? last : Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    return new SseEvent(raw);
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > this.maxEventBytes) {
      throw new AppError('upstream_error', 'The upstream sent an event that is too large.', { failover: true });
    }
    this.#held.push(bytes);
  }
}

function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
