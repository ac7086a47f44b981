import { AppError } from '../../../platform/shared/index.js';

/** A JSON object kept as text: key order, large numbers and escapes are preserved. */
export class RawJson {
  #value: { readonly [name: string]: unknown } | undefined;

  /** @param text well-formed JSON object */
  constructor(readonly text: string) {}

  get value(): { readonly [name: string]: unknown } {
    return (this.#value ??= JSON.parse(this.text) as { readonly [name: string]: unknown });
  }

  toJSON(): unknown {
    return this.value;
  }
}

/** A parsed value in which some objects are raw. */
export type JsonTree =
  null | boolean | number | string | RawJson | readonly JsonTree[] | { readonly [name: string]: JsonTree | undefined };

export type TreeObject = { readonly [name: string]: JsonTree | undefined };

export const isTreeObject = (value: JsonTree | undefined): value is TreeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawJson);

/** A set or a predicate. */
type NameSet = Pick<ReadonlySet<string>, 'has'>;

/**
 * Parses a document whose grammar was checked.
 * @param raw members whose object values are kept as text
 * @throws SyntaxError when it is not JSON, or nested too deeply
 */
export function parseJsonTree(text: string, raw: NameSet): JsonTree {
  const parser = new TreeParser(text, raw);
  return parser.document();
}

/** Serializes a tree. Undefined members are omitted; raw objects stay as written. */
export function writeJson(value: JsonTree): string {
  if (value instanceof RawJson) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((entry: JsonTree) => writeJson(entry)).join(',')}]`;
  let text = '';
  for (const [name, member] of Object.entries(value as TreeObject)) {
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${writeJson(member)}`;
  }
  return `{${text}}`;
}

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /[-+.0-9A-Za-z]+/y;
/** An invalid escape: grammar checks skip strings. */
const INVALID_ESCAPE = /(?<!\\)(?:\\\\)*\\(?!["\\/bfnrt]|u[\dA-Fa-f]{4})/;
/** Max nesting, including raw objects, since the walkers are recursive. */
const MAX_DEPTH = 500;

class TreeParser {
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly raw: NameSet,
  ) {}

  document(): JsonTree {
    const value = this.value(undefined);
    this.skipSpace();
    if (this.at !== this.text.length) throw new SyntaxError(`Unexpected data after the document at ${this.at}.`);
    return value;
  }

  private value(name: string | undefined): JsonTree {
    this.skipSpace();
    switch (this.text[this.at]) {
      case '{':
        return name !== undefined && this.raw.has(name) ? this.rawObject() : this.object();
      case '[':
        return this.array();
      case '"':
        return this.string();
      default:
        return JSON.parse(this.take(LITERAL)) as JsonTree;
    }
  }

  private object(): TreeObject {
    const members: Record<string, JsonTree> = {};
    this.open();
    if (this.closed('}')) return members;
    do {
      this.skipSpace();
      const name = this.string();
      this.expect(':');
      const value = this.value(name);
      // Assignment would set the prototype.
      if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true, configurable: true });
      else members[name] = value;
    } while (this.next(','));
    this.close('}');
    return members;
  }

  private array(): readonly JsonTree[] {
    const entries: JsonTree[] = [];
    this.open();
    if (this.closed(']')) return entries;
    do entries.push(this.value(undefined));
    while (this.next(','));
    this.close(']');
    return entries;
  }

  private rawObject(): RawJson {
    const start = this.at;
    const outside = this.depth;
    do {
      switch (this.text[this.at]) {
        case undefined:
          throw new SyntaxError('The document ends inside an object.');
        case '"':
          this.at = this.endOfString();
          break;
        case '{':
        case '[':
          this.open();
          break;
        case '}':
        case ']':
          this.depth -= 1;
          this.at += 1;
          break;
        default:
          this.at += 1;
      }
    } while (this.depth > outside);
    const text = this.text.slice(start, this.at);
    if (INVALID_ESCAPE.test(text)) throw new SyntaxError(`Invalid escape in a string of the object at ${start}.`);
    return new RawJson(text);
  }

  /** Enters an object or array if its bracket is next. */
  private open(): void {
    this.at += 1;
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new SyntaxError(`The document is nested too deeply at ${this.at}.`);
  }

  /** Leaves it if its bracket is next. */
  private closed(sign: string): boolean {
    const isClosed = this.next(sign);
    if (isClosed) this.depth -= 1;
    return isClosed;
  }

  private close(sign: string): void {
    this.expect(sign);
    this.depth -= 1;
  }

  private string(): string {
    if (this.text[this.at] !== '"') throw new SyntaxError(`Expected a string at ${this.at}.`);
    const start = this.at;
    this.at = this.endOfString();
    return JSON.parse(this.text.slice(start, this.at)) as string;
  }

  /** End of the string at the current position. */
  private endOfString(): number {
    for (let quote = this.text.indexOf('"', this.at + 1); quote !== -1; quote = this.text.indexOf('"', quote + 1)) {
      let escapes = 0;
      while (this.text[quote - 1 - escapes] === '\\') escapes += 1;
      if (escapes % 2 === 0) return quote + 1;
    }
    throw new SyntaxError('The document ends inside a string.');
  }

  private next(sign: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  private expect(sign: string): void {
    if (!this.next(sign)) throw new SyntaxError(`"${sign}" expected at ${this.at}.`);
  }

  private skipSpace(): void {
    const code = this.text.charCodeAt(this.at);
    if (code <= 0x20) this.take(SPACE);
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0] ?? '';
    this.at += taken.length;
    return taken;
  }
}

interface NumberRange {
  readonly min: number;
  readonly max?: number;
}

/**
 * Reads members of a request object strictly. Null counts as absent. All methods throw AppError invalid_request with
 * the path.
 */
export class TreeReader {
  constructor(
    readonly tree: TreeObject,
    /** Its path: `messages[2]`; empty for the request. */
    readonly path = '',
  ) {}

  /** Path of a member: `messages[2].content`. */
  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  get names(): readonly string[] {
    return Object.keys(this.tree);
  }

  value(name: string): JsonTree {
    return this.tree[name] ?? null;
  }

  has(name: string): boolean {
    return this.value(name) !== null;
  }

  string(name: string): string | undefined {
    const value = this.value(name);
    if (value === null) return undefined;
    if (typeof value !== 'string') throw this.malformed(name, 'must be a string');
    return value;
  }

  /** A non-empty string. */
  word(name: string): string {
    const value = this.string(name);
    if (value === undefined || value === '') throw this.malformed(name, 'is required');
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.value(name);
    if (value === null) return undefined;
    if (typeof value !== 'boolean') throw this.malformed(name, 'must be true or false');
    return value;
  }

  number(name: string, { min, max = Infinity }: NumberRange = { min: -Infinity }): number | undefined {
    const value = this.value(name);
    if (value === null) return undefined;
    if (typeof value !== 'number') throw this.malformed(name, 'must be a number');
    if (value >= min && value <= max) return value;
    throw this.malformed(name, max === Infinity ? `must be at least ${min}` : `must be from ${min} to ${max}`);
  }

  integer(name: string, range?: NumberRange): number | undefined {
    const value = this.number(name, range);
    if (value !== undefined && !Number.isSafeInteger(value)) throw this.malformed(name, 'must be a whole number');
    return value;
  }

  /** An object kept as text: the member must be among the protocol's `rawMembers`. */
  raw(name: string): RawJson | undefined {
    const value = this.value(name);
    if (value === null) return undefined;
    if (!(value instanceof RawJson)) throw this.malformed(name, 'must be an object');
    return value;
  }

  child(name: string): TreeReader | undefined {
    const value = this.value(name);
    return value === null ? undefined : this.reader(value, this.pathOf(name));
  }

  requiredChild(name: string): TreeReader {
    const child = this.child(name);
    if (child === undefined) throw this.malformed(name, 'is required');
    return child;
  }

  /** Objects of a list; empty if absent. */
  children(name: string): readonly TreeReader[] {
    return this.list(name).map((entry, index) => this.reader(entry, `${this.pathOf(name)}[${index}]`));
  }

  /** Strings of a list; empty if absent. */
  strings(name: string): readonly string[] {
    return this.list(name).map((entry, index) => {
      if (typeof entry !== 'string') throw this.malformed(`${name}[${index}]`, 'must be a string');
      return entry;
    });
  }

  malformed(name: string, what: string): AppError {
    return malformed(this.pathOf(name), what);
  }

  private list(name: string): readonly JsonTree[] {
    const value = this.value(name);
    if (value === null) return [];
    if (!Array.isArray(value)) throw this.malformed(name, 'must be a list');
    return value as readonly JsonTree[];
  }

  private reader(value: JsonTree, path: string): TreeReader {
    if (!isTreeObject(value)) throw malformed(path, 'must be an object');
    return new TreeReader(value, path);
  }
}

/** @param path as in `TranslationWarnings.warn` */
export const malformed = (path: string, what: string): AppError =>
  new AppError('invalid_request', `${path} ${what}.`, { param: path, fault: 'invalid_value' });
