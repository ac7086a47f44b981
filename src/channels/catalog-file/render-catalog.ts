import { Document, isCollection, isPair, isScalar, type ScalarTag, visit } from 'yaml';
import { Numeral } from './numeral.js';

const HEADING = ' The catalog as it is stored. Applying this file changes nothing.';
const UPCOMING = ' Stored as well, each to be applied by an entry of its own with `valid_from`:';
const WIDTH = 120;
/** How many nodes stand above the fields of an entry: document, mapping, pair, list, entry. */
const ENTRY_LEVEL = 4;

/** Decimals are written as their text: a JavaScript number could not say all of them. */
const NUMERAL: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof Numeral,
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }) => (value instanceof Numeral ? value.source : String(value)),
};

/**
 * The YAML text of a catalog: an entry has a line for each field and for each price tier. What no entry can say, because
 * it begins later, stands above it as a comment.
 */
export function renderCatalog(
  upcoming: readonly string[],
  catalog: Readonly<Record<string, readonly unknown[] | Readonly<Record<string, unknown>>>>,
): string {
  const document = new Document(catalog, { schema: 'core', customTags: (tags) => [NUMERAL, ...tags] });
  document.commentBefore = [
    HEADING,
    ...(upcoming.length > 0 ? [UPCOMING] : []),
    ...upcoming.map((line) => `   ${line}`),
  ].join('\n');
  visit(document, {
    Collection: (_, node, path) => {
      const field = path.at(-1);
      node.flow = path.length > ENTRY_LEVEL && !(isPair(field) && isScalar(field.key) && field.key.value === 'prices');
    },
    Pair: (_, { value }) => {
      if (isCollection(value) && value.items.length === 0) value.flow = true;
    },
  });
  return document.toString({ lineWidth: WIDTH });
}
