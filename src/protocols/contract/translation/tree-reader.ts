import type { AppError } from '../../../platform/shared/index.js';
import { isTreeObject, type JsonTree, RawJson, type TreeObject } from './json-tree.js';
import { malformed } from './warnings.js';

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
