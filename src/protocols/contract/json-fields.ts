import { AppError, type FieldErrorCode, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { BodySize, CallBody, JsonEdit, ObjectPlace } from './call-body.js';
import type { JsonElement, JsonField, JsonInterest, JsonKind } from './json-members.js';
import { type JsonScan, JsonScanner } from './json-scanner.js';
import { CLOSE_BRACE, isWhiteSpace, QUOTE } from './json-text.js';
import { MAX_STATE_IDS, type StateMember } from './prompt-content.js';

interface IntegerRange {
  readonly min: number;
  readonly max?: number;
}

interface StringRange {
  /** In characters. */
  readonly maxLength?: number;
}

/** Max growth of a string when every character is escaped. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;
/** Longer than any vendor's IDs. */
const MAX_ID_BYTES = 1024;
/** Longer than names of conversations and users, including JSON ones. */
const MAX_HINT_BYTES = 1024;
const NO_IDS: readonly (readonly [StateMember, string])[] = [];

/**
 * Locates the interpreted members of a JSON object in one pass, which checks the grammar and decodes nothing. About 0.3
 * ms for 331 kB.
 * @throws AppError invalid_request as `JsonReader` does
 */
export function readJsonFields(body: Uint8Array, interests: JsonInterest): JsonFields {
  return new JsonReader(interests).end({ bytes: bufferOf(body) });
}

/**
 * Reads a body while it arrives.
 * @throws AppError invalid_request when the body is not a JSON object, has an interpreted member twice or in another
 * case, is nested over 512 levels, or is not UTF-8
 */
export class JsonReader {
  private readonly scanner: JsonScanner;

  constructor(interests: JsonInterest) {
    this.scanner = new JsonScanner(interests);
  }

  /** The body so far: the previous bytes and more. */
  next(arrived: Uint8Array): void {
    this.scanner.next(bufferOf(arrived));
  }

  end(body: CallBody): JsonFields {
    return new JsonFields(body, this.scanner.end(body.bytes));
  }
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The interpreted members of a document by path. Other paths are unknown. */
export class JsonFields {
  private knownSize: BodySize | undefined;

  constructor(
    private readonly body: CallBody,
    private readonly scan: JsonScan,
  ) {}

  /** Must first be read while the body still has its bytes. */
  get size(): BodySize {
    this.knownSize ??= this.scan.size(this.body.bytes);
    return this.knownSize;
  }

  /** Whether files, items or documents outside the body are referenced. */
  get hasOutsideContent(): boolean {
    return this.scan.hasOutsideContent;
  }

  get present(): ReadonlyMap<string, JsonField> {
    return this.scan.fields;
  }

  field(path: string): JsonField | undefined {
    return this.scan.fields.get(path);
  }

  /**
   * IDs of upstream state with the members that name them.
   * @param withToolData includes tools' own data
   * @throws AppError invalid_request when one is malformed; request_too_large when there are too many
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

  /** Objects with reasoning sealed by this relay, for `removalEdits`. */
  get sealed(): readonly ObjectPlace[] {
    return this.scan.sealed;
  }

  /** Strings that are reasoning sealed by this relay, in base64, with their quotes. */
  get sealedValues(): readonly ObjectPlace[] {
    return this.scan.sealedValues;
  }

  /** Elements of an interpreted array by path: `tools[]`. Empty without an array. */
  elements(path: string): readonly JsonElement[] {
    return this.scan.elements?.get(path) ?? [];
  }

  /** After the head is read: they may be much larger than their JSON, and calls may be long. */
  releaseElements(): void {
    this.scan.elements?.clear();
  }

  /** Paths of uninterpreted members, where requested. */
  get others(): readonly string[] {
    return this.scan.others;
  }

  /** Position of a member including its name, for `removalEdits`; undefined if absent. */
  place(path: string): ObjectPlace | undefined {
    const field = this.field(path);
    if (field === undefined) return undefined;
    const { bytes } = this.body;
    // Interpreted names contain no quotes, even escaped.
    const nameEnd = bytes.lastIndexOf(QUOTE, field.start - 1);
    return { start: bytes.lastIndexOf(QUOTE, nameEnd - 1), end: field.end };
  }

  /** Present and not null. */
  has(path: string): boolean {
    const field = this.field(path);
    return field !== undefined && field.kind !== 'null';
  }

  /** The decoded value; undefined if absent. @throws AppError invalid_request */
  value(path: string): unknown {
    const field = this.field(path);
    return field === undefined ? undefined : this.decoded(field, path);
  }

  /** @param path for errors. @throws AppError invalid_request */
  decoded({ start, end }: Pick<JsonField, 'start' | 'end'>, path: string): unknown {
    try {
      return JSON.parse(this.body.bytes.toString('utf8', start, end)) as unknown;
    } catch {
      throw this.refusal(path, 'invalid_value', 'must be valid JSON');
    }
  }

  text({ start, end }: JsonField): string {
    return this.body.bytes.toString('utf8', start, end);
  }

  /** The value if it is an object, else undefined. */
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

  /** Null counts as absent. @throws AppError invalid_request naming the member, as the following methods do */
  optionalString(path: string, range: StringRange = {}): string | undefined {
    return this.stringAt(this.field(path), path, range);
  }

  /** Like `optionalString`, for a member of an element. @param path for errors */
  stringAt(field: JsonField | undefined, path: string, { maxLength = Infinity }: StringRange): string | undefined {
    if (field === undefined || field.kind === 'null') return undefined;
    if (field.kind !== 'string') throw this.refusal(path, 'invalid_value', 'must be a string');
    // Rejects huge values by size, without decoding them.
    const isHuge = field.end - field.start > QUOTES_BYTES + WITH_ESCAPES * maxLength;
    const value = isHuge ? undefined : this.decoded(field, path);
    if (typeof value === 'string' && value.length <= maxLength) return value;
    throw this.refusal(path, 'invalid_value', `must not be longer than ${maxLength} characters`);
  }

  /** Undefined if absent, empty, long or not a string. */
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

  /** Whether the member is true; other values are left to the upstream. */
  isTrue(path: string): boolean {
    return this.field(path)?.kind === 'boolean' && this.value(path) === true;
  }

  /** An integer in any notation: `100`, `1e2` and `100.0` are equal. */
  optionalInteger(path: string, range: IntegerRange): number | undefined {
    if (!this.has(path)) return undefined;
    const value = this.field(path)?.kind === 'number' ? Number(this.value(path)) : Number.NaN;
    const max = range.max ?? Number.MAX_SAFE_INTEGER;
    if (Number.isSafeInteger(value) && value >= range.min && value <= max) return value;
    const bounds = range.max === undefined ? `of at least ${range.min}` : `from ${range.min} to ${range.max}`;
    throw this.refusal(path, 'invalid_value', `must be a whole number ${bounds}`);
  }

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

  /** Sets a member: in place, or as the first member of its parent, which must be an object. */
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

  /** Whether only white space is left before the closing brace. */
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
