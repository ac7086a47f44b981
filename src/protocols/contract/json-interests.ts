/** A member that a protocol interprets; the root has an empty path. */
export interface JsonInterest {
  /** As in errors: `stream_options.include_usage`. */
  readonly path: string;
  readonly name: string;
  readonly members: ReadonlyMap<string, JsonInterest>;
  /** Interest in an array's elements; its path ends with `[]`. */
  readonly elements: JsonInterest | undefined;
  /** Collects the names of other members. */
  readonly collectsOthers: boolean;
  /** In bytes, escaped and quoted. */
  readonly longestName: number;
}

interface MutableInterest extends JsonInterest {
  readonly members: Map<string, MutableInterest>;
  elements: MutableInterest | undefined;
  collectsOthers: boolean;
  longestName: number;
}

/** Max growth of a name when every character is escaped. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;
/** Longer names are not collected. */
const MAX_COLLECTED_BYTES = 66;
/** Last part of a path: all other members. */
const OTHERS = '*';
const ELEMENTS = '[]';

/** Folds case like the most lenient parsers, which also map U+017F to `s` and U+212A to `k`. Never shortens. */
export const foldCase = (name: string): string => name.toUpperCase().toLowerCase();

const newInterest = (path: string, name: string): MutableInterest => ({
  path,
  name,
  members: new Map(),
  elements: undefined,
  collectsOthers: false,
  longestName: 0,
});

/**
 * The members that a protocol interprets, by lower-case path from the root; parents are included. `tools[].type` is a
 * member of every array element, `models[]` the element itself; `reasoning.*` collects the names of all other members.
 * Created once per protocol.
 */
export function jsonInterests(...paths: readonly string[]): JsonInterest {
  const root = newInterest('', '');
  for (const path of paths) addPath(root, path);
  return root;
}

function addPath(root: MutableInterest, path: string): void {
  let parent = root;
  for (const part of path.split('.')) {
    if (part === OTHERS) {
      parent.collectsOthers = true;
      parent.longestName = Math.max(parent.longestName, MAX_COLLECTED_BYTES);
      return;
    }
    const name = part.endsWith(ELEMENTS) ? part.slice(0, -ELEMENTS.length) : part;
    const child = parent.members.get(name) ?? newInterest(parent.path === '' ? name : `${parent.path}.${name}`, name);
    parent.members.set(name, child);
    parent.longestName = Math.max(parent.longestName, QUOTES_BYTES + WITH_ESCAPES * name.length);
    parent = part === name ? child : (child.elements ??= newInterest(`${child.path}${ELEMENTS}`, name));
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/**
 * The first duplicate member of an object, ignoring escapes and case; undefined if none. Parsers differ in which
 * duplicate they use.
 * @param json valid
 */
export function duplicateMember(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      const names = open.at(-1);
      if (names?.has(foldCase(name)) === true) return name;
      names?.add(foldCase(name));
    }
  }
  return undefined;
}
