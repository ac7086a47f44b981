import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/**
 * The rooms of `src/`, lowest first: an import may point to the same room or to a lower one. ARCHITECTURE.md says what
 * each of them owns.
 */
const ROOMS = ['platform', 'protocols', 'usage', 'catalog', 'wallet', 'auth', 'keys', 'relay', 'console', 'app'];
/** Specs may build what they test from what stands here, and hold it against what plays its dialect. */
const FOR_SPECS = ['../test/support/', '../test/conformance/dialects/'];
/** The files in `src/` itself put the modules together: they may know every module, by its index. */
const ROOT = '';

const SRC = resolve(import.meta.dirname, '../src');
const TEST = import.meta.dirname;
const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g;

const levelOf = (folder: string): number => LEVELS.findIndex((level) => level.includes(folder));
/** The top folder of a file below src/; '' for a file that stands in src/ itself. */
const folderOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return name.endsWith('.ts') ? [path] : [];
  });
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Imports between files of src/, both as paths below it. */
function importsOf(file: string, text = readFileSync(file, 'utf8')): Import[] {
  return [...text.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    .filter((target) => target.startsWith('.'))
    .map((target) => ({
      from: relative(SRC, file),
      to: relative(SRC, resolve(dirname(file), target)).replace(/\.js$/, '.ts'),
    }));
}

/** Why an import is not allowed; undefined when it is. */
function fault({ from, to }: Import): string | undefined {
  const [own, other] = [folderOf(from), folderOf(to)];
  if (own === other) return siblingFault(from, to);
  if (to.startsWith('../migrations/'))
    return own === 'database' ? undefined : `${from}: only database knows the migrations`;
  if (FOR_SPECS.some((folder) => to.startsWith(folder)) && from.endsWith('.spec.ts')) return undefined;
  if (to.startsWith('..')) return `${from} imports ${to}: nothing outside src/ may be known here`;
  if (other === ROOT) return `${from} imports ${to}: a module must not know the composition root`;
  if (to !== `${other}/index.ts`) return `${from} imports ${to}: a module is known by its index.ts alone`;
  if (own !== ROOT && levelOf(other) >= levelOf(own))
    return `${from} imports ${to}: ${other} does not stand below ${own}`;
  return undefined;
}

/** The files that lead back to themselves, types alone included: neither can be read without the other. */
function circles(imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const reachable = (start: string): ReadonlySet<string> => {
    const found = new Set<string>();
    const open = [start];
    for (let file = open.pop(); file !== undefined; file = open.pop())
      for (const target of targets.get(file) ?? []) {
        if (!found.has(target)) open.push(target);
        found.add(target);
      }
    return found;
  };
  return [...targets.keys()].filter((file) => reachable(file).has(file));
}

/** Below protocols/ every folder stands alone: a dialect must not know another one's names. */
function siblingFault(from: string, to: string): string | undefined {
  if (folderOf(from) !== 'protocols' || from === 'protocols/index.ts') return undefined;
  return from.split('/')[1] === to.split('/')[1]
    ? undefined
    : `${from} imports ${to}: dialects must not know each other`;
}

describe('architecture', () => {
  const files = filesBelow(SRC);

  it('gives every folder of src/ a level', () => {
    const folders = readdirSync(SRC).filter((name) => statSync(join(SRC, name)).isDirectory());
    expect(folders.filter((folder) => levelOf(folder) < 0)).toEqual([]);
  });

  it('has the levels that ARCHITECTURE.md lists', () => {
    const map = readFileSync(resolve(TEST, '../ARCHITECTURE.md'), 'utf8');
    const rows = [...map.matchAll(/^\| (\d+) +\| ((?:`[\w-]+`(?:, )?)+) +\|/gm)];
    const listed = rows.map(([, level, folders = '']) => `${level} ${folders.replaceAll('`', '')}`);
    expect(listed).toEqual(LEVELS.map((folders, index) => `${index + 1} ${folders.join(', ')}`));
  });

  it('lets every import point to a lower level, through its index', () => {
    expect(
      files
        .flatMap((file) => importsOf(file))
        .map(fault)
        .filter(Boolean),
    ).toEqual([]);
  });

  it('sees an import that points upwards, past an index, or between dialects', () => {
    const text = (target: string): string => `import { x } from '${target}';`;
    const faultIn = (from: string, target: string): string | undefined =>
      importsOf(join(SRC, from), text(target)).map(fault)[0];
    expect(faultIn('call/call.ts', '../relay/index.js')).toMatch('does not stand below');
    expect(faultIn('keys/caller.ts', '../auth/account.entity.js')).toMatch('index.ts alone');
    expect(faultIn('protocols/messages/messages.protocol.ts', '../responses/responses.wire.js')).toMatch('each other');
    expect(faultIn('boot.ts', './relay/relay.service.js')).toMatch('index.ts alone');
    expect(faultIn('keys/caller.ts', '../boot.js')).toMatch('composition root');
    expect(faultIn('keys/caller.ts', '../auth/index.js')).toBeUndefined();
    expect(faultIn('call/call.ts', '../../test/support/calls.js')).toMatch('nothing outside src/');
    expect(faultIn('call/call.spec.ts', '../../test/support/calls.js')).toBeUndefined();
  });

  it('has no files that import each other in a circle', () => {
    expect(circles([...files, ...filesBelow(TEST)].flatMap((file) => importsOf(file)))).toEqual([]);
  });

  it('sees a circle', () => {
    const pairs = ['a b', 'b c', 'c b', 'c d'].map((pair) => pair.split(' '));
    expect(circles(pairs.map(([from = '', to = '']) => ({ from, to })))).toEqual(['b', 'c']);
  });

  it('keeps Nest, I/O and RxJS out of the pure folders', () => {
    const impure = files
      .filter((file) => ['shared', 'call'].includes(folderOf(relative(SRC, file))) && !file.endsWith('.spec.ts'))
      .filter((file) =>
        /from '(@nestjs|rxjs|fastify|typeorm|pg|undici|node:(fs|net|http|https|child_process)')/.test(
          // What only tells addresses from other text reaches no network.
          readFileSync(file, 'utf8').replaceAll(/import type .*|import \{ isIP \} from 'node:net';/g, ''),
        ),
      );
    expect(impure).toEqual([]);
  });

  it('reads the environment in one place only', () => {
    const withoutComments = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');
    // A program that is shown to people has a placeholder there, not a name.
    const readers = files.filter((file) =>
      /\bprocess\.env\b(?!\.\$\{)/.test(withoutComments(readFileSync(file, 'utf8'))),
    );
    expect(readers.map((file) => relative(SRC, file))).toEqual(['config/config.ts']);
  });

  it('keeps entities and repositories to their own module', () => {
    const indexes = files.filter((file) => file.endsWith('/index.ts'));
    const exporters = indexes.filter((file) => /\.(?:entity|repository)\.js/.test(readFileSync(file, 'utf8')));
    expect(exporters.map((file) => relative(SRC, file))).toEqual([]);
  });

  it('keeps every file below 400 lines', () => {
    const all = [...files, ...filesBelow(resolve(SRC, '../test'))];
    const long = all.filter((file) => readFileSync(file, 'utf8').split('\n').length > 400);
    expect(long.map((file) => relative(SRC, file))).toEqual([]);
  });
});
