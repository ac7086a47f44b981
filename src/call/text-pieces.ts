import { isJsonObject } from '../shared/index.js';
import type { TextPiece } from './text-places.js';

/** Nothing that a model wrote lies deeper. */
const MAX_DEPTH = 64;

/**
 * What the model wrote within a piece of an answer, or all of it: the strings of these members, at any depth. One that
 * is an object of its own, as the input of a tool, was written as JSON. What stands under two names is one text.
 */
export function textPieces(value: unknown, names: ReadonlySet<string>, lane = ''): TextPiece[] {
  const found: TextPiece[] = [];
  collect(value, lane, { names, found, depth: 0 });
  return found;
}

interface Search {
  readonly names: ReadonlySet<string>;
  readonly found: TextPiece[];
  readonly depth: number;
}

function collect(value: unknown, lane: string, search: Search): void {
  if (search.depth > MAX_DEPTH) return;
  const deeper = { ...search, depth: search.depth + 1 };
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly unknown[]).entries())
      collect(item, `${lane}/${placeOf(item) ?? index}`, deeper);
  } else if (isJsonObject(value)) {
    const texts = new Set<string>();
    for (const [name, member] of Object.entries(value)) {
      const text = search.names.has(name) ? textOf(member) : undefined;
      if (text === undefined) collect(member, `${lane}/${name}`, deeper);
      else if (text !== '' && !texts.has(text)) search.found.push({ lane: `${lane}/${name}`, text });
      if (text !== undefined) texts.add(text);
    }
  }
}

/** Events number what their pieces belong to; where they stand in a list says nothing. */
function placeOf(item: unknown): number | undefined {
  const index = isJsonObject(item) ? item['index'] : undefined;
  return typeof index === 'number' ? index : undefined;
}

/** Undefined when there may be texts further down. */
function textOf(member: unknown): string | undefined {
  if (typeof member === 'string') return member;
  if (!isJsonObject(member)) return undefined;
  return Object.keys(member).length === 0 ? '' : JSON.stringify(member);
}
