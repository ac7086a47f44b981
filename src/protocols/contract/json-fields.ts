import { AppError, isJsonObject, type FieldErrorCode, type JsonObject } from '../../platform/shared/index.js';
import { CLOSE_BRACE, isWhiteSpace } from './json-text.js';
import type { BodySize, CallBody } from './call-body.js';
import type { JsonInterest } from './json-interests.js';
import type { JsonElement, JsonField, JsonKind } from './json-members.js';
import { JsonScanner, type JsonScan } from './json-scanner.js';
import type { ObjectPlace } from './seal-edits.js';
import type { JsonEdit } from './json-splice.js';
import type { StateMember } from './outside-content.js';
import { MAX_STATE_IDS } from './prompt-content.js';

interface IntegerRange {
  readonly min: number;
  /** No limit when absent. */
  readonly max?: number;
}

interface StringRange {
  /** Characters; no limit when absent. */
  readonly maxLength?: number;
}

/** How many times longer a text is in a document when each of its characters is written as an escape. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;
/** No vendor's ids are longer: such a text is none. */
const MAX_ID_BYTES = 1024;
/** Names of conversations and users are shorter, JSON among them. */
const MAX_HINT_BYTES = 1024;
const NO_IDS: readonly (readonly [StateMember, string])[] = [];

/**
 * Reads where the interpreted members of a JSON object are, in one pass that checks the document's grammar and decodes
 * nothing. Some 0.3 ms for a body of 331 kB; what may be larger is read as it arrives, by a `JsonReader`.
 * @throws AppError invalid_request as `JsonReader` does
 */
export function readJsonFields(body: Uint8Array, interests: JsonInterest): JsonFields {
  return new JsonReader(interests).end({ bytes: bufferOf(body) });
}

/**
 * The same for a body that is on its way.
 * @throws AppError invalid_request when the body is no JSON object, names an interpreted member twice or in another
 * case, is nested over 512 levels, or is no UTF-8
 */
export class JsonReader {
  private readonly scanner: JsonScanner;

  constructor(interests: JsonInterest) {
    this.scanner = new JsonScanner(interests);
  }

  /** The body so far: each time the same bytes as before and more. */
  next(arrived: Uint8Array): void {
    this.scanner.next(bufferOf(arrived));
  }

  end(body: CallBody): JsonFields {
    return new JsonFields(body, this.scanner.end(body.bytes));
  }
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The interpreted members of one document, by path. Knows only the paths that it was asked for. */
export class JsonFields {
  private knownSize: BodySize | undefined;

  constructor(
    private readonly body: CallBody,
    private readonly scan: JsonScan,
  ) {}

  /** Read it first while the body still has its bytes. */
  get size(): BodySize {
    this.knownSize ??= this.scan.size(this.body.bytes);
    return this.knownSize;
  }

  /** True when files, items or documents are named anywhere that are not in the body. */
  get leansOutside(): boolean {
    return this.scan.leansOutside;
  }

  /** All interpreted members of the document, by path. */
  get present(): ReadonlyMap<string, JsonField> {
    return this.scan.fields;
  }

  /** Where the member is; undefined when the document has none. */
  field(path: string): JsonField | undefined {
    return this.scan.fields.get(path);
  }

  /**
   * Ids of state that is kept upstream, wherever they are named, with the members that name them; empty ones are no ids.
   * @param withToolData also where a tool's own data may name them
   * @throws AppError invalid_request when one cannot be read; request_too_large when they are too many
   */
  stateIds(withToolData: boolean): readonly (readonly [StateMember, string])[] {
    const { stateIds } = this.scan;
    if (stateIds.length > MAX_STATE_IDS)
      throw new AppError('request_too_large', `The request refers to more than ${MAX_STATE_IDS} files and containers.`);
    if (stateIds.length === 0) return NO_IDS;
    const named = withToolData ? stateIds : stateIds.filter(({ isToolData }) => !isToolData);
    return named.map(({ member, start, end }) => {
      const id = end - start > MAX_ID_BYTES ? '' : this.decoded({ start, end }, member);
      return [member, String(id)];
    });
  }

  /** Objects that carry reasoning which this relay has sealed, for `sealEdits`. */
  get sealed(): readonly ObjectPlace[] {
    return this.scan.sealed;
  }

  /** Elements of an array whose elements are interpreted, by its path: `tools[]`. None where there is no array. */
  elements(path: string): readonly JsonElement[] {
    return this.scan.elements.get(path) ?? [];
  }

  /** Paths of members that nothing interprets, where these were asked for. */
  get others(): readonly string[] {
    return this.scan.others;
  }

  /** True when the member is there and not null. */
  has(path: string): boolean {
    const field = this.field(path);
    return field !== undefined && field.kind !== 'null';
  }

  /** The member's value, decoded; undefined when the document has none. @throws AppError invalid_request */
  value(path: string): unknown {
    const field = this.field(path);
    return field === undefined ? undefined : this.decoded(field, path);
  }

  /** The value that lies there. @param path for the error. @throws AppError invalid_request */
  decoded({ start, end }: Pick<JsonField, 'start' | 'end'>, path: string): unknown {
    try {
      return JSON.parse(this.body.bytes.toString('utf8', start, end)) as unknown;
    } catch {
      throw this.refusal(path, 'invalid_value', 'must be valid JSON');
    }
  }

  /** The JSON that lies there. */
  text({ start, end }: JsonField): string {
    return this.body.bytes.toString('utf8', start, end);
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
    const field = this.field(path);
    if (field === undefined || field.kind === 'null') return undefined;
    if (field.kind !== 'string') throw this.refusal(path, 'invalid_value', 'must be a string');
    const { maxLength = Infinity } = range;
    // Told by its bytes where that is enough: a member of many megabytes is not decoded to be refused.
    const value = field.end - field.start > QUOTES_BYTES + WITH_ESCAPES * maxLength ? undefined : this.value(path);
    if (typeof value === 'string' && value.length <= maxLength) return value;
    throw this.refusal(path, 'invalid_value', `must not be longer than ${maxLength} characters`);
  }

  /** The member's text, where it is no fault that there is none: undefined then, and when it is empty or long. */
  hint(path: string): string | undefined {
    const field = this.field(path);
    if (field?.kind !== 'string' || field.end - field.start > MAX_HINT_BYTES) return undefined;
    const value = this.value(path);
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  optionalBoolean(path: string): boolean | undefined {
    const kind = this.field(path)?.kind ?? 'null';
    if (kind === 'null') return undefined;
    if (kind !== 'boolean') throw this.refusal(path, 'invalid_value', 'must be true or false');
    return this.value(path) === true;
  }

  /** True when the member says so; anything else that stands there is somebody else's to refuse. */
  isTrue(path: string): boolean {
    return this.field(path)?.kind === 'boolean' && this.value(path) === true;
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
    return this.refusal(path, 'missing_required_parameter', 'required');
  }

  refusal(path: string, fault: FieldErrorCode, reason: string): AppError {
    return new AppError('invalid_request', `${path}: ${reason}.`, { param: path, fault });
  }

  /** Gives the member this value: in its place, else as the first member of its parent, which must be an object. */
  assign(path: string, json: string): JsonEdit {
    const field = this.field(path);
    if (field !== undefined) return { start: field.start, end: field.end, text: json };
    const dot = path.lastIndexOf('.');
    const parent = this.field(path.slice(0, Math.max(dot, 0)));
    if (parent?.kind !== 'object') throw new RangeError(`No object to insert ${path} into.`);
    const start = parent.start + 1;
    const separator = this.endsAt(start) ? '' : ',';
    return { start, end: start, text: `${JSON.stringify(path.slice(dot + 1))}:${json}${separator}` };
  }

  /** True when nothing but white space stands between the position and the closing brace. */
  private endsAt(position: number): boolean {
    const { bytes } = this.body;
    let at = position;
    while (isWhiteSpace(bytes[at])) at++;
    return bytes[at] === CLOSE_BRACE;
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
