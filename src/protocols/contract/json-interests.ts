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
