import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CallSignal } from './signals.js';
import { likelyTokensIn } from './token-estimate.js';

const ASCII = /^[\x20-\x7e]*$/;
/** As the bytes read one by one. */
const BYTE_ORDER_MARK = '\u00EF\u00BB\u00BF';

/** Keeps an idle stream alive in every dialect: clients skip comments wherever they stand. */
export const KEEP_ALIVE_COMMENT: Uint8Array = Buffer.from(': keepalive\n\n');

/** A line of an event that carries something: positions in the wire bytes, behind the field's name and one space. */
interface Line {
  readonly start: number;
  readonly end: number;
}

interface Fields {
  readonly name: Line | undefined;
  readonly data: readonly Line[];
}

/** One server-sent event as it arrived. Nothing is decoded before it is asked for. */
export class SseEvent {
  #wire: Buffer | undefined;
  #text: string | undefined;
  #fields: Fields | undefined;

  /** @param raw all bytes of the event, the empty line that ends it included when there was one */
  constructor(readonly raw: Buffer) {}

  /**
   * The event as clients get it: the very bytes, unless they use CR, start with a byte order mark or lack the empty
   * line. Clients exist that see no event at all behind CRLF.
   */
  get wire(): Buffer {
    const { text } = this;
    return (this.#wire ??= Buffer.from(text, 'latin1'));
  }

  /** The wire bytes, one character each, to look for ASCII quickly: its positions are those of the bytes. */
  get text(): string {
    if (this.#text === undefined) {
      const text = this.raw.toString('latin1');
      this.#text = isClean(text) ? text : cleaned(text);
      if (this.#text === text) this.#wire = this.raw;
    }
    return this.#text;
  }

  /** What the `event:` line says; undefined when there is none. */
  get name(): string | undefined {
    const line = this.fields.name;
    if (line === undefined) return undefined;
    const name = this.text.slice(line.start, line.end);
    return ASCII.test(name) ? name : this.decode(line);
  }

  /** The `data:` lines, joined by line feeds; empty when there are none. */
  get data(): string {
    const [first, ...others] = this.fields.data;
    if (first === undefined) return '';
    return others.length === 0 ? this.decode(first) : this.fields.data.map((line) => this.decode(line)).join('\n');
  }

  /** Where the data begins in `text`; -1 when there is none. */
  get dataAt(): number {
    return this.fields.data[0]?.start ?? -1;
  }

  /** Behind the last character of the data in `text`; -1 when there is none. */
  get dataEnd(): number {
    return this.fields.data.at(-1)?.end ?? -1;
  }

  /** True when the event has neither name nor data: comments, `id:` and `retry:` lines, or nothing at all. */
  get isComment(): boolean {
    return this.fields.name === undefined && this.fields.data.length === 0;
  }

  private get fields(): Fields {
    return (this.#fields ??= readFields(this.text));
  }

  private decode(line: Line): string {
    return this.wire.toString('utf8', line.start, line.end);
  }
}

/** The bytes of an event: `event:` line if it has a name, `data:` lines, empty line, LF only. */
export function renderSse(name: string | undefined, data: string): Buffer {
  const lines = data.split('\n').map((line) => `data: ${line}\n`);
  return Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}${lines.join('')}\n`);
}

/** The same as text, for data of one line: many events are put together before they are encoded. */
export const sseText = (name: string | undefined, line: string): string =>
  name === undefined ? `data: ${line}\n\n` : `event: ${name}\ndata: ${line}\n\n`;

function isClean(text: string): boolean {
  return text.endsWith('\n\n') && !text.includes('\r') && !text.startsWith('\n') && !text.startsWith(BYTE_ORDER_MARK);
}

function cleaned(text: string): string {
  const lines = (text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text).split(/\r\n|\r|\n/);
  return `${lines.filter((line) => line !== '').join('\n')}\n\n`;
}

function readFields(text: string): Fields {
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

/** Where the value of the field begins; -1 when the line is another field's. A field without a colon is empty. */
function valueStart(text: string, field: string, start: number, end: number): number {
  if (!text.startsWith(field, start)) return -1;
  const colon = start + field.length;
  if (colon === end) return end;
  if (text[colon] !== ':') return -1;
  return text[colon + 1] === ' ' ? colon + 2 : colon + 1;
}

/** How much of an event's data is looked at: white space may stand in front of what begins it. */
const MAX_PEEKED_BYTES = 64;

/**
 * What the model wrote in a piece of an answer, counted roughly.
 * @param lane which of several interleaved texts it continues, where there are several
 */
export function outputOf(text: string, lane?: number): Extract<CallSignal, { type: 'output' }> {
  const units = likelyTokensIn(text);
  return lane === undefined ? { type: 'output', units, text } : { type: 'output', units, text, lane };
}

/**
 * What an event's data is at first sight: a JSON object, the marker `[DONE]`, something else, or absent. An object that
 * does not end with its brace was cut off, and would break whoever parses it.
 */
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
 * Reads which event it is, among those that a dialect looks at: by its name, else by the first `type` inside that is
 * one of them, since not every server names its events. Undefined for any other.
 * @param types the types, as alternatives of a regular expression
 */
export function eventTypeReader(types: string): (event: SseEvent) => string | undefined {
  const name = new RegExp(`^(?:${types})$`);
  const member = new RegExp(`"type"\\s*:\\s*"(${types})"`);
  return (event) => (event.name !== undefined && name.test(event.name) ? event.name : member.exec(event.text)?.[1]);
}

/** The event's data when it is a JSON object; undefined otherwise. */
export function parseData(event: SseEvent): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(event.data);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
