// Creates the files of a new protocol: npm run new-protocol -- <name> [--client] [--upstream]
// They compile; what depends on the protocol's documentation is "not written yet". Next: docs/adding-a-protocol.md
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { inRoot } from './pinned-node.mjs';

const USAGE = `npm run new-protocol -- <name> [--client] [--upstream]

<name>       protocol ID for channels and paths: lowercase letters and digits, hyphens between words
--client     client half only
--upstream   upstream half only`;

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 32;

const TEMPLATES = inRoot('scripts/protocol-template');
const MODULES = 'src/protocols/index.ts';
const DOUBLES = 'test/conformance/protocols/index.ts';

/** First line of files of one half: `// client half`. */
const HALF = /^\/\/ (client|upstream) half\n/;
/** End of lines of one half: `…; // client`. */
const HALF_OF_LINE = /^(.*\S) *\/\/ (client|upstream)$/;

function readArguments() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { client: { type: 'boolean' }, upstream: { type: 'boolean' } },
  });
  const [name = '', ...others] = positionals;
  if (others.length > 0) throw new Error('Expected a single name.');
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH)
    throw new Error(
      `"${name}" is not a valid name: use at most ${MAX_NAME_LENGTH} lowercase letters, digits and hyphens.`,
    );
  for (const folder of foldersOf(name)) if (existsSync(inRoot(folder))) throw new Error(`${folder} already exists.`);
  const chosen = ['client', 'upstream'].filter((half) => values[half]);
  return { name, halves: chosen.length === 0 ? ['client', 'upstream'] : chosen };
}

const foldersOf = (name) => [`src/protocols/${name}`, `test/conformance/protocols/${name}`];

/** The paths and contents to write. */
function filesFor(name, halves) {
  const names = namesOf(name);
  const [adapter, doubles] = foldersOf(name);
  const files = [
    ...fill('adapter', adapter, names, halves),
    ...fill('doubles', doubles, names, halves),
    [MODULES, `${read(MODULES)}export { ${names.Name}Module } from './${name}/${name}.module.js';\n`],
    [DOUBLES, withDoubles(read(DOUBLES), names, halves)],
  ];
  return Promise.all(files.map(async ([path, text]) => [path, await formatted(path, text)]));
}

/** By placeholder: `two-words`, `TwoWords`, `twoWords`, `TWO_WORDS`, `Two Words`. */
function namesOf(id) {
  const words = id.split('-').map((word) => word[0].toUpperCase() + word.slice(1));
  const Name = words.join('');
  return {
    id,
    Name,
    name: Name[0].toLowerCase() + Name.slice(1),
    ID: id.replaceAll('-', '_').toUpperCase(),
    title: words.join(' '),
  };
}

function fill(template, folder, names, halves) {
  return readdirSync(join(TEMPLATES, template)).flatMap((file) => {
    const text = readFileSync(join(TEMPLATES, template, file), 'utf8');
    const half = HALF.exec(text)?.[1];
    if (half !== undefined && !halves.includes(half)) return [];
    const path = join(folder, file.replace(/^_/, names.id).replace(/\.txt$/, ''));
    return [[path, withNames(ofHalves(text.replace(HALF, ''), halves), names)]];
  });
}

const ofHalves = (text, halves) =>
  text
    .split('\n')
    .flatMap((line) => {
      const [, code = line, half] = HALF_OF_LINE.exec(line) ?? [];
      return half === undefined || halves.includes(half) ? [code] : [];
    })
    .join('\n');

const withNames = (text, names) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, placeholder) => names[placeholder]);

/** Adds to the lists of clients and vendors. */
function withDoubles(index, { id, name }, halves) {
  const lists = { client: ['CLIENTS', `${name}Client`, 'client'], upstream: ['VENDORS', `${name}Vendor`, 'vendor'] };
  let text = index;
  for (const half of halves) {
    const [list, constant, file] = lists[half];
    text = insertAfter(text, /^import .*;\n(?!import )/m, `import { ${constant} } from './${id}/${file}.js';\n`);
    text = insertAfter(text, new RegExp(`^export const ${list}\\b[^;]*?\\n(?=\\];)`, 'm'), `  ${constant},\n`);
  }
  return text;
}

function insertAfter(text, pattern, addition) {
  if (!pattern.test(text)) throw new Error(`Unexpected contents of ${DOUBLES}: nothing matches ${pattern}.`);
  return text.replace(pattern, (found) => found + addition);
}

const read = (path) => readFileSync(inRoot(path), 'utf8');

/** Formatted like `npm run format`, since names have any length. */
async function formatted(path, text) {
  const filepath = inRoot(path);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

function write(path, text) {
  mkdirSync(dirname(inRoot(path)), { recursive: true });
  writeFileSync(inRoot(path), text);
}

const summary = (name, halves, paths) => `${paths.map((path) => `  ${path}`).join('\n')}

"${name}" compiles with ${halves.length === 2 ? 'both halves' : `its ${halves[0]} half`}.
List what is not written yet: npm run conformance -- ${name}
Guide: docs/adding-a-protocol.md`;

try {
  const { name, halves } = readArguments();
  const files = await filesFor(name, halves);
  for (const [path, text] of files) write(path, text);
  console.log(
    summary(
      name,
      halves,
      files.map(([path]) => path),
    ),
  );
} catch (error) {
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
