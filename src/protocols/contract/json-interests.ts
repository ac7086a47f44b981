import type { Buffer } from 'node:buffer';

/** One member that a dialect interprets; the root has the empty path. */
export interface JsonInterest {
  /** As errors name it: `stream_options.include_usage`. */
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  readonly members: ReadonlyMap<string, JsonInterest>;
  /** Where the value is an array whose elements are interpreted: what every one of them is; its path ends with `[]`. */
  readonly elements: JsonInterest | undefined;
  /** Whether the names of other members are wanted too. */
  readonly collectsOthers: boolean;
  /** The most bytes that the name of a member takes in a document, quotes included; longer names are none of them. */
  readonly longestName: number;
}

interface Growing extends JsonInterest {
  readonly members: Map<string, Growing>;
  elements: Growing | undefined;
  collectsOthers: boolean;
  longestName: number;
}

/** How many times longer a name is when each of its characters is written as an escape. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;
/** Longer names of members are not collected. */
const MAX_COLLECTED_BYTES = 66;
/** As the last part of a path: the names of all other members. */
const OTHERS = '*';
const ELEMENTS = '[]';

/** Ignores case as the most forgiving parsers do, which also take U+017F for `s` and U+212A for `k`. Never shortens. */
export const fold = (name: string): string => name.toUpperCase().toLowerCase();

const grow = (path: string, name: string): Growing => ({
  path,
  name,
  members: new Map(),
  elements: undefined,
  collectsOthers: false,
  longestName: 0,
});

/**
 * The members that a dialect interprets, by path from the document's root, in lower case. A parent of a named member is
 * interpreted with it. `tools[].type` is a member of every element of an array, `models[]` the element itself, and
 * `reasoning.*` collects the names of all members there that no path names. Made once per dialect, not once per call.
 */
export function jsonInterests(...paths: readonly string[]): JsonInterest {
  const root = grow('', '');
  for (const path of paths) plant(root, path);
  return root;
}

function plant(root: Growing, path: string): void {
  let parent = root;
  for (const part of path.split('.')) {
    if (part === OTHERS) {
      parent.collectsOthers = true;
      parent.longestName = Math.max(parent.longestName, MAX_COLLECTED_BYTES);
      return;
    }
    const name = part.endsWith(ELEMENTS) ? part.slice(0, -ELEMENTS.length) : part;
    const child = parent.members.get(name) ?? grow(parent.path === '' ? name : `${parent.path}.${name}`, name);
    parent.members.set(name, child);
    parent.longestName = Math.max(parent.longestName, QUOTES_BYTES + WITH_ESCAPES * name.length);
    parent = part === name ? child : (child.elements ??= grow(`${child.path}${ELEMENTS}`, name));
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/**
 * The first member that an object of the document has twice, in whatever spelling and case; undefined when there is none.
 * Parsers differ in which of the two they take.
 * @param json valid
 */
export function doubledMember(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = open.at(-1);
      if (names?.has(fold(name)) === true) return name;
      names?.add(fold(name));
    }
  }
  return undefined;
}

/** Names and values may be written with escapes. */
const ESCAPE = '\\u00';
const MARK = '"cache_control"';
const HOUR = '"1h"';
/** What was looked at before may hold the beginning of one of these. */
const OVERLAP_BYTES = MARK.length - 1;

/**
 * The longest cache time that parts of a prompt may be marked with, found anywhere in the body: an upper bound. Searched as
 * the body arrives, because a native search of a large one takes long.
 */
export class CacheMarkSearch {
  private seen = 0;
  private isEscaped = false;
  private isMarked = false;
  private hasHour = false;

  /** The longest of these times; undefined when nothing is marked. */
  get cacheLifetime(): '5m' | '1h' | undefined {
    if (this.isEscaped) return '1h';
    if (!this.isMarked) return undefined;
    return this.hasHour ? '1h' : '5m';
  }

  /** The body so far: each time the same bytes as before and more. */
  next(body: Buffer): void {
    const news = this.seen <= OVERLAP_BYTES ? body : body.subarray(this.seen - OVERLAP_BYTES);
    this.seen = body.length;
    if (this.isEscaped) return;
    this.isEscaped = news.includes(ESCAPE);
    this.isMarked ||= news.includes(MARK);
    this.hasHour ||= news.includes(HOUR);
  }
}
