import { AppError, isJsonObject, type FieldFault, type JsonObject } from '../shared/index.js';
import { CLOSE_BRACE, isWhiteSpace } from './bytes.js';
import type { BodySize } from './call.js';
import type { JsonInterest } from './json-interests.js';
import { scanJson, type JsonField, type JsonKind, type JsonScan } from './json-scanner.js';
import type { JsonEdit } from './json-splice.js';

interface IntegerRange {
  readonly min: number;
  /** No limit when absent. */
  readonly max?: number;
}

interface StringRange {
  /** Characters; no limit when absent. */
  readonly maxLength?: number;
}

/**
 * Reads where the interpreted members of a JSON object are, in one pass that checks the document's grammar and decodes
 * nothing. Some 0.3 ms for a body of 331 kB.
 * @throws AppError invalid_request when the body is no JSON object, names an interpreted member twice or in another
 * case, is nested over 512 levels, or is no UTF-8
 */
export function readJsonFields(body: Uint8Array, interests: JsonInterest): JsonFields {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return new JsonFields(bytes, scanJson(bytes, interests));
}

/** The interpreted members of one document, by path. Knows only the paths that it was asked for. */
export class JsonFields {
  constructor(
    private readonly body: Buffer,
    private readonly scan: JsonScan,
  ) {}

  get size(): BodySize {
    return this.scan.size;
  }

  /** Where the member is; undefined when the document has none. */
  field(path: string): JsonField | undefined {
    return this.scan.fields.get(path);
  }

  /** True when the member is there and not null. */
  has(path: string): boolean {
    const field = this.field(path);
    return field !== undefined && field.kind !== 'null';
  }

  /** The member's value, decoded; undefined when the document has none. @throws AppError invalid_request */
  value(path: string): unknown {
    const field = this.field(path);
    if (field === undefined) return undefined;
    try {
      return JSON.parse(this.body.toString('utf8', field.start, field.end)) as unknown;
    } catch {
      throw this.refusal(path, 'invalid_value', 'must be valid JSON');
    }
  }

  /** The member's value when it is an object; undefined otherwise. */
  object(path: string): JsonObject | undefined {
    if (this.field(path)?.kind !== 'object') return undefined;
    const value = this.value(path);
    return isJsonObject(value) ? value : undefined;
  }

  requireString(path: string, range: StringRange = {}): string {
    const value = this.optionalString(path, range);
    if (value === undefined) throw this.missing(path);
    if (value === '') throw this.refusal(path, 'invalid_value', 'must not be empty');
    return value;
  }

  /** Null counts as absent. @throws AppError invalid_request naming the member, as all readers here */
  optionalString(path: string, range: StringRange = {}): string | undefined {
    if (!this.has(path)) return undefined;
    const value = this.value(path);
    if (typeof value !== 'string') throw this.refusal(path, 'invalid_value', 'must be a string');
    if (range.maxLength !== undefined && value.length > range.maxLength) {
      throw this.refusal(path, 'invalid_value', `must not be longer than ${range.maxLength} characters`);
    }
    return value;
  }

  optionalBoolean(path: string): boolean | undefined {
    if (!this.has(path)) return undefined;
    const value = this.value(path);
    if (typeof value !== 'boolean') throw this.refusal(path, 'invalid_value', 'must be true or false');
    return value;
  }

  /** A whole number, however it is written: `100`, `1e2` and `100.0` are one. */
  optionalInteger(path: string, range: IntegerRange): number | undefined {
    if (!this.has(path)) return undefined;
    const value = this.field(path)?.kind === 'number' ? Number(this.value(path)) : Number.NaN;
    const max = range.max ?? Number.MAX_SAFE_INTEGER;
    if (Number.isSafeInteger(value) && value >= range.min && value <= max) return value;
    const bounds = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${range.max}`;
    throw this.refusal(path, 'invalid_value', `must be a whole number ${bounds}`);
  }

  /** Demands that the member is there and of one of these kinds. */
  requireKind(path: string, ...kinds: readonly JsonKind[]): void {
    const field = this.field(path);
    if (field === undefined || field.kind === 'null') throw this.missing(path);
    if (kinds.includes(field.kind)) return;
    throw this.refusal(path, 'invalid_value', `must be ${kinds.map((kind) => ARTICLES[kind]).join(' or ')}`);
  }

  missing(path: string): AppError {
    return this.refusal(path, 'missing_required_parameter', 'this member is required');
  }

  refusal(path: string, fault: FieldFault, reason: string): AppError {
    return new AppError('invalid_request', `${path}: ${reason}.`, { param: path, fault });
  }

  /** Gives the member this value: in its place, else as the first member of its parent, which must be an object. */
  assign(path: string, json: string): JsonEdit {
    const field = this.field(path);
    if (field !== undefined) return { start: field.start, end: field.end, text: json };
    const dot = path.lastIndexOf('.');
    const parent = this.field(path.slice(0, Math.max(dot, 0)));
    if (parent?.kind !== 'object') throw new RangeError(`There is no object to put ${path} into.`);
    const start = parent.start + 1;
    const separator = this.endsAt(start) ? '' : ',';
    return { start, end: start, text: `${JSON.stringify(path.slice(dot + 1))}:${json}${separator}` };
  }

  /** True when nothing but white space stands between the position and the closing brace. */
  private endsAt(position: number): boolean {
    let at = position;
    while (isWhiteSpace(this.body[at])) at++;
    return this.body[at] === CLOSE_BRACE;
  }
}

const ARTICLES: Readonly<Record<JsonKind, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};
