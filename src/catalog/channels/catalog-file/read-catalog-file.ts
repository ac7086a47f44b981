import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { AppError } from '../../../platform/shared/index.js';
import { isMapping, Numeral, textOf } from './fields.js';
import { CatalogFileDto } from './group.dto.js';

/** A catalog file whose entries are well-formed; references are not checked yet. */
interface CatalogFile {
  readonly entries: CatalogFileDto;
  /** Creates the error for further problems, with their lines. */
  readonly refusal: (errors: readonly EntryError[]) => InvalidCatalog;
}

/**
 * @param fileName used in messages
 * @throws InvalidCatalog with all errors of form at once
 */
export function readCatalogFile(text: string, fileName: string): CatalogFile {
  const document = new CatalogDocument(text, fileName);
  if (!isMapping(document.content))
    throw document.refusal([{ path: '', message: 'must contain at least one of groups, models, channels and limits' }]);
  const { entries, errors } = readEntries(document.content);
  if (errors.length > 0) throw document.refusal(errors);
  return { entries, refusal: (more) => document.refusal(more) };
}

/** Validates parsed content, in which numbers are `Numeral`s. Invalid entries must not be used. */
export function readEntries(content: object): {
  readonly entries: CatalogFileDto;
  readonly errors: readonly EntryError[];
} {
  const entries = plainToInstance(CatalogFileDto, content);
  const errors = validateSync(entries, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
  return { entries, errors: errors.flatMap((error) => validationErrors(error, '')) };
}

function validationErrors({ property, constraints, children }: ValidationError, parent: string): EntryError[] {
  const path = /^\d+$/.test(property) ? `${parent}[${property}]` : parent === '' ? property : `${parent}.${property}`;
  const inner = children?.flatMap((child) => validationErrors(child, path)) ?? [];
  const message = constraints && messageOf(constraints);
  return message === undefined ? inner : [{ path, message }, ...inner];
}

/** Our checks have their own messages; the library adds two. */
function messageOf(constraints: Readonly<Record<string, string>>): string | undefined {
  if ('whitelistValidation' in constraints) return 'is not a catalog field';
  return Object.entries(constraints).find(([name]) => name !== 'nestedValidation')?.[1];
}

/** YAML parses an unquoted `***` as an alias of an anchor named `**`. */
const KEPT_SECRET = '***';
const KEPT_SECRET_AS_ALIAS = '**';

const MAX_NODES = 100_000;
const MAX_LEVELS = 20;
/** Keys with a meaning in JavaScript objects. */
const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

/** A parsed YAML file with numbers as text, and the line of each node. */
class CatalogDocument {
  private readonly lines = new Map<string, number>();
  private readonly counter = new LineCounter();
  private readonly document: Document.Parsed;
  private nodes = 0;
  /** Plain objects, arrays, strings, booleans, null and `Numeral`s. */
  readonly content: unknown;

  /** @throws InvalidCatalog when the text is not YAML */
  constructor(
    text: string,
    private readonly fileName: string,
  ) {
    // The parser's own messages quote lines, which may contain secrets.
    this.document = parseDocument(text, { prettyErrors: false, lineCounter: this.counter, schema: 'core' });
    const [error] = this.document.errors;
    if (error !== undefined)
      throw new InvalidCatalog([
        this.at(error.pos[0], `is not YAML (${error.code}): ${error.message.split(' at line', 1)[0]}`),
      ]);
    this.content = this.read(this.document.contents, '', 0);
  }

  /** The error for these problems with their lines, in file order. */
  refusal(errors: readonly EntryError[]): InvalidCatalog {
    const placed = errors.map((error) => ({ ...error, line: this.lineOf(error.path) ?? 0 }));
    return new InvalidCatalog(
      placed
        .toSorted((one, other) => one.line - other.line)
        .map(({ path, message, line }) => {
          return `${this.fileName}${line === 0 ? '' : `:${line}`}: ${path === '' ? 'the file' : path} ${message}`;
        }),
    );
  }

  /** The line of a path, or of its closest existing parent. */
  private lineOf(path: string): number | undefined {
    for (let at = path; at !== ''; at = at.replace(/(\.[^.[]*|\[\d+\])$|^[^.[]*$/, '')) {
      const line = this.lines.get(at);
      if (line !== undefined) return line;
    }
    return undefined;
  }

  private read(node: Node | null, path: string, level: number): unknown {
    if (node === null) return null;
    const line = node.range && this.counter.linePos(node.range[0]).line;
    if (line && !this.lines.has(path)) this.lines.set(path, line);
    if (++this.nodes > MAX_NODES || level > MAX_LEVELS) throw this.refusal([{ path, message: 'is too large' }]);
    if (isAlias(node)) return this.readAlias(node, path, level);
    if (isScalar(node)) return readScalar(node.value, node.source);
    if (isSeq<Node>(node)) return node.items.map((item, index) => this.read(item, `${path}[${index}]`, level + 1));
    if (isMap<Node, Node | null>(node)) return this.readMap(node.items, path, level);
    throw this.refusal([{ path, message: 'cannot be read' }]);
  }

  private readAlias(node: Node, path: string, level: number): unknown {
    if (!isAlias(node)) return undefined;
    const target = node.resolve(this.document);
    if (target !== undefined) return this.read(target, path, level + 1);
    if (node.source === KEPT_SECRET_AS_ALIAS) return KEPT_SECRET;
    throw this.refusal([{ path, message: 'starts with "*": quote it' }]);
  }

  private readMap(items: readonly { key: Node; value: Node | null }[], path: string, level: number): unknown {
    const entries = items.map(({ key, value }): [string, unknown] => {
      const name = textOf(this.read(key, '', level + 1));
      if (typeof name !== 'string' || FORBIDDEN_NAMES.has(name))
        throw this.refusal([{ path, message: 'has a field with a reserved name' }]);
      const inner = path === '' ? name : `${path}.${name}`;
      if (key.range) this.lines.set(inner, this.counter.linePos(key.range[0]).line);
      return [name, this.read(value, inner, level + 1)];
    });
    return Object.fromEntries(entries);
  }

  private at(offset: number, message: string): string {
    return `${this.fileName}:${this.counter.linePos(offset).line}: ${message}`;
  }
}

const readScalar = (value: unknown, source: string | undefined): unknown =>
  typeof value === 'number' || typeof value === 'bigint' ? new Numeral(source ?? String(value)) : value;

/** An error and its path in the file: `channels[0].base_url`. */
export interface EntryError {
  /** Empty if it concerns the whole file. */
  readonly path: string;
  readonly message: string;
}

/** A rejected catalog file; nothing was applied. */
export class InvalidCatalog extends AppError {
  constructor(
    /** One line per error: `catalog.yaml:12: channels[0].base_url is missing`. */
    readonly errors: readonly string[],
  ) {
    super('invalid_request', errors.join('\n'));
  }
}
