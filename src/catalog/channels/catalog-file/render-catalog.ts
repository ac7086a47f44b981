import { Document, isCollection, isPair, isScalar, type ScalarTag, visit } from 'yaml';
import { Numeral } from './numeral.js';

const HEADING = 'The stored catalog. Applying this file changes nothing.';
const WIDTH = 120;
/** How many nodes stand above the fields of an entry: document, mapping, pair, list, entry. */
const ENTRY_LEVEL = 4;
const UPCOMING = 'upcoming';
/** Fields of which each item has a line of its own. */
const LISTS: ReadonlySet<unknown> = new Set(['prices', 'costs', UPCOMING]);

/** Decimals are written as their text: a JavaScript number could not say all of them. */
const NUMERAL: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof Numeral,
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }) => (value instanceof Numeral ? value.source : String(value)),
};

/** The YAML text of a catalog: an entry has a line for each field, each price tier and each cost. */
export function renderCatalog(
  catalog: Readonly<Record<string, readonly unknown[] | Readonly<Record<string, unknown>>>>,
): string {
  const document = new Document(catalog, { schema: 'core', customTags: (tags) => [NUMERAL, ...tags] });
  document.commentBefore = HEADING;
  visit(document, {
    Collection: (_, node, path) => {
      const isOpen = LISTS.has(fieldOf(path.at(-1))) || fieldOf(path.at(-2)) === UPCOMING;
      node.flow = path.length > ENTRY_LEVEL && !isOpen;
    },
    Pair: (_, { value }) => {
      if (isCollection(value) && value.items.length === 0) value.flow = true;
    },
  });
  return document.toString({ lineWidth: WIDTH });
}

/** The name of a field, when it is one. */
const fieldOf = (node: unknown): unknown => (isPair(node) && isScalar(node.key) ? node.key.value : undefined);
