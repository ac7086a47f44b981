/** One member that a dialect interprets; the root has the empty path. */
export interface JsonInterest {
  /** As errors name it: `stream_options.include_usage`. */
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  readonly members: ReadonlyMap<string, JsonInterest>;
  /** The most bytes that the name of a member takes in a document, quotes included; longer names are none of them. */
  readonly longestName: number;
}

interface Growing extends JsonInterest {
  readonly members: Map<string, Growing>;
  longestName: number;
}

/** How many times longer a name is when each of its characters is written as an escape. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;

/** Ignores case as the most forgiving parsers do, which also take U+017F for `s` and U+212A for `k`. Never shortens. */
export const fold = (name: string): string => name.toUpperCase().toLowerCase();

const grow = (path: string, name: string): Growing => ({ path, name, members: new Map(), longestName: 0 });

/**
 * The members that a dialect interprets, by path from the document's root, in lower case. A parent of a named member is
 * interpreted with it. Made once per dialect, not once per call.
 */
export function jsonInterests(...paths: readonly string[]): JsonInterest {
  const root = grow('', '');
  for (const path of paths) plant(root, path);
  return root;
}

function plant(root: Growing, path: string): void {
  let parent = root;
  for (const name of path.split('.')) {
    const child = parent.members.get(name) ?? grow(parent.path === '' ? name : `${parent.path}.${name}`, name);
    parent.members.set(name, child);
    parent.longestName = Math.max(parent.longestName, QUOTES_BYTES + WITH_ESCAPES * name.length);
    parent = child;
  }
}
