import { isTreeObject, type JsonTree, RawJson, type TreeObject } from './json-tree.js';
import { malformed } from './losses.js';

/**
 * An object of a client's request and where it stands. Members are read as what their dialect says they are; one that is
 * null counts as absent. Everything it throws is an AppError invalid_request naming the member.
 */
export class TreeFields {
  /** @param path of the object: `messages[2]`, empty for the request itself */
  constructor(
    readonly object: TreeObject,
    readonly path = '',
  ) {}

  /** The path of a member: `messages[2].role`. */
  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  value(name: string): JsonTree | undefined {
    return this.object[name] ?? undefined;
  }

  string(name: string): string {
    return this.optionalString(name) ?? this.refuse(name, 'must be a string');
  }

  optionalString(name: string): string | undefined {
    const value = this.value(name);
    return value === undefined || typeof value === 'string' ? value : this.refuse(name, 'must be a string');
  }

  optionalNumber(name: string): number | undefined {
    const value = this.value(name);
    return value === undefined || typeof value === 'number' ? value : this.refuse(name, 'must be a number');
  }

  optionalBoolean(name: string): boolean | undefined {
    const value = this.value(name);
    return value === undefined || typeof value === 'boolean' ? value : this.refuse(name, 'must be true or false');
  }

  requiredObject(name: string): TreeFields {
    return this.optionalObject(name) ?? this.refuse(name, 'must be an object');
  }

  optionalObject(name: string): TreeFields | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    return isTreeObject(value) ? new TreeFields(value, this.at(name)) : this.refuse(name, 'must be an object');
  }

  /** A member among the dialect's raw ones. */
  optionalRaw(name: string): RawJson | undefined {
    const value = this.value(name);
    return value === undefined || value instanceof RawJson ? value : this.refuse(name, 'must be an object');
  }

  /** The entries of an array of objects; none when it is absent. */
  objects(name: string): readonly TreeFields[] {
    return this.entries(name).map((entry, index) => {
      const path = `${this.at(name)}[${index}]`;
      if (!isTreeObject(entry)) throw malformed(path, 'must be an object');
      return new TreeFields(entry, path);
    });
  }

  strings(name: string): readonly string[] {
    return this.entries(name).map((entry, index) => {
      if (typeof entry !== 'string') throw malformed(`${this.at(name)}[${index}]`, 'must be a string');
      return entry;
    });
  }

  private entries(name: string): readonly JsonTree[] {
    const value = this.value(name) ?? [];
    return Array.isArray(value) ? (value as readonly JsonTree[]) : this.refuse(name, 'must be an array');
  }

  private refuse(name: string, what: string): never {
    throw malformed(this.at(name), what);
  }
}
