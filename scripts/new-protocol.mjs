// Lays out a new dialect: npm run new-protocol -- <name> [--client] [--upstream]
// Everything stands in its place and compiles; what only the dialect's documentation can say is "not written yet".
// docs/adding-a-protocol.md tells how to go on.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { inRoot } from './pinned-node.mjs';

const USAGE = `npm run new-protocol -- <name> [--client] [--upstream]

<name>       of the dialect, as channels and paths have it: small letters, digits, hyphens between words
--client     only the half that clients speak to
--upstream   only the half that speaks to upstreams`;

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 32;

const TEMPLATES = inRoot('scripts/protocol-template');
const MODULES = 'src/protocols/index.ts';
const DOUBLES = 'test/conformance/dialects/index.ts';

/** The files of a template are those of both halves, unless their first line names one: `// client half`. */
const HALF = /^\/\/ (client|upstream) half\n/;
/** A line of one half ends with its name: `…; // client`. */
const HALF_OF_LINE = /^(.*\S) *\/\/ (client|upstream)$/;

function readArguments() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { client: { type: 'boolean' }, upstream: { type: 'boolean' } },
  });
  const [name = '', ...others] = positionals;
  if (others.length > 0) throw new Error('One name is enough.');
  if (!NAME.test(name) || name.length > MAX_NAME_LENGTH)
    throw new Error(`"${name}" is no name of a dialect: at most ${MAX_NAME_LENGTH} small letters, digits and hyphens.`);
  for (const folder of foldersOf(name)) if (existsSync(inRoot(folder))) throw new Error(`${folder} is there already.`);
  const chosen = ['client', 'upstream'].filter((half) => values[half]);
  return { name, halves: chosen.length === 0 ? ['client', 'upstream'] : chosen };
}

const foldersOf = (name) => [`src/protocols/${name}`, `test/conformance/dialects/${name}`];

/** Paths, and what is to be written there: nothing is, before all of it is known. */
function layOut(name, halves) {
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

/** `two-words`, `TwoWords`, `twoWords`, `TWO_WORDS`, `Two Words`: by what stands for them in templates. */
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
    return [[path, named(ofHalves(text.replace(HALF, ''), halves), names)]];
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

const named = (text, names) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, which) => names[which]);

/** The lists of clients and vendors with one more at their ends. */
function withDoubles(index, { id, name }, halves) {
  const lists = { client: ['CLIENTS', `${name}Client`, 'client'], upstream: ['VENDORS', `${name}Vendor`, 'vendor'] };
  let text = index;
  for (const half of halves) {
    const [list, constant, file] = lists[half];
    text = behind(text, /^import .*;\n(?!import )/m, `import { ${constant} } from './${id}/${file}.js';\n`);
    text = behind(text, new RegExp(`^export const ${list}\\b[^;]*?\\n(?=\\];)`, 'm'), `  ${constant},\n`);
  }
  return text;
}

function behind(text, pattern, addition) {
  if (!pattern.test(text)) throw new Error(`${DOUBLES} is not as this script knows it: nothing matches ${pattern}.`);
  return text.replace(pattern, (found) => found + addition);
}

const read = (path) => readFileSync(inRoot(path), 'utf8');

/** As `npm run format` would leave it: names are of any length. */
async function formatted(path, text) {
  const filepath = inRoot(path);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

function write(path, text) {
  mkdirSync(dirname(inRoot(path)), { recursive: true });
  writeFileSync(inRoot(path), text);
}

const whatNext = (name, halves, paths) => `${paths.map((path) => `  ${path}`).join('\n')}

"${name}" compiles, and the program starts with ${halves.length === 2 ? 'both of its halves' : `its ${halves[0]} half`}.
To see what is not written yet: npm run conformance -- ${name}
How to write it: docs/adding-a-protocol.md`;

try {
  const { name, halves } = readArguments();
  const files = await layOut(name, halves);
  for (const [path, text] of files) write(path, text);
  console.log(
    whatNext(
      name,
      halves,
      files.map(([path]) => path),
    ),
  );
} catch (error) {
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}
