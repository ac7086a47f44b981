import { isJsonObject } from '../../platform/shared/index.js';

/** Nothing that a model wrote lies deeper. */
const MAX_DEPTH = 64;

/**
 * What the model wrote in a response: the strings of these members, at any depth. One that is an object of its own, as
 * the input of a tool, was written as JSON. What stands under two names is one text.
 */
export function textPieces(value: unknown, names: ReadonlySet<string>): string[] {
  const found: string[] = [];
  collect(value, { names, found, depth: 0 });
  return found;
}

interface Search {
  readonly names: ReadonlySet<string>;
  readonly found: string[];
  readonly depth: number;
}

function collect(value: unknown, search: Search): void {
  if (search.depth > MAX_DEPTH) return;
  const deeper = { ...search, depth: search.depth + 1 };
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) collect(item, deeper);
  } else if (isJsonObject(value)) {
    const texts = new Set<string>();
    for (const [name, member] of Object.entries(value)) {
      const text = search.names.has(name) ? textOf(member) : undefined;
      if (text === undefined) collect(member, deeper);
      else if (text !== '' && !texts.has(text)) search.found.push(text);
      if (text !== undefined) texts.add(text);
    }
  }
}

/** Undefined when there may be texts further down. */
function textOf(member: unknown): string | undefined {
  if (typeof member === 'string') return member;
  if (!isJsonObject(member)) return undefined;
  return Object.keys(member).length === 0 ? '' : JSON.stringify(member);
}
