import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/**
 * The rooms of `src/`, lowest first: an import may point to the same room or to a lower one. ARCHITECTURE.md says what
 * each of them owns.
 */
const ROOMS = ['platform', 'protocols', 'usage', 'catalog', 'wallet', 'auth', 'keys', 'relay', 'console', 'app'];
/** Specs may build what they test from what stands here, and hold it against what plays its protocol. */
const FOR_SPECS = ['../test/support/', '../test/conformance/protocols/'];

/** Functions and views are in SQL files since this migration; those before it are never edited. */
const CREATES_SQL_CHECKSUMS = '20261126120000-create-sql-checksums.ts';

const SRC = resolve(import.meta.dirname, '../src');
const TEST = import.meta.dirname;
const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g;
const EXPORTED_TYPE = /(?<=^export (?:abstract )?(?:class|interface|type) )\w+/gm;

const levelOf = (room: string): number => ROOMS.indexOf(room);
/** The room of a file below src/; '' for a file in src/ itself. */
const roomOf = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? '') : '');
/** What is known by its index alone: the nearest folder above a file that has one, and each folder of protocols/. */
function moduleOf(path: string): string {
  const [room, folder, file] = path.split('/');
  if (room === 'protocols' && file !== undefined) return `protocols/${folder}`;
  const above = dirname(path);
  return above === '.' || existsSync(join(SRC, above, 'index.ts')) ? above : moduleOf(above);
}

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
function violation({ from, to }: Import): string | undefined {
  if (to.startsWith('../migrations/'))
    return moduleOf(from) === 'platform/database' ? undefined : `${from}: only platform/database imports migrations`;
  if (FOR_SPECS.some((folder) => to.startsWith(folder)) && from.endsWith('.spec.ts')) return undefined;
  if (to.startsWith('..')) return `${from} imports ${to}: src/ must not import anything outside src/`;
  if (roomOf(from) === '') return undefined;
  if (levelOf(roomOf(to)) > levelOf(roomOf(from)))
    return `${from} imports ${to}: ${roomOf(to)} is above ${roomOf(from)}`;
  const [own, other] = [moduleOf(from), moduleOf(to)];
  if (own === other || own.startsWith(`${other}/`) || from.endsWith('.spec.ts') || from === 'protocols/index.ts')
    return undefined;
  if (isProtocol(own) && isProtocol(other)) return `${from} imports ${to}: protocols must not know each other`;
  if (to === `${other}/index.ts`) return undefined;
  return `${from} imports ${to}: a module is known by its index.ts alone`;
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

/** The folder of one protocol, which stands alone; what protocols share is in other folders. */
const isProtocol = (folder: string): boolean =>
  roomOf(`${folder}/`) === 'protocols' &&
  ['upstream', 'protocol'].some((half) => existsSync(join(SRC, folder, `${half}.ts`)));

describe('architecture', () => {
  const files = filesBelow(SRC);

  it('has a level for every room', () => {
    const folders = readdirSync(SRC).filter((name) => statSync(join(SRC, name)).isDirectory());
    expect(folders.toSorted()).toEqual(ROOMS.toSorted());
  });

  it('has the rooms that ARCHITECTURE.md lists, in its order', () => {
    const map = readFileSync(resolve(TEST, '../ARCHITECTURE.md'), 'utf8');
    const listed = [...map.matchAll(/^\| (\d+) +\| `([\w-]+)` +\|/gm)].map(([, level, room]) => `${level} ${room}`);
    expect(listed).toEqual(ROOMS.map((room, index) => `${index + 1} ${room}`));
  });

  it('lets every import point to the same or a lower room, through an index', () => {
    expect(
      files
        .flatMap((file) => importsOf(file))
        .map(violation)
        .filter(Boolean),
    ).toEqual([]);
  });

  it('finds an import that points upward, past an index, or between protocols', () => {
    const text = (target: string): string => `import { x } from '${target}';`;
    const found = (from: string, target: string): string | undefined =>
      importsOf(join(SRC, from), text(target)).map(violation)[0];
    expect(found('platform/shared/ids.ts', '../../relay/index.js')).toMatch('is above');
    expect(found('keys/caller.ts', '../console/web/index.js')).toMatch('is above');
    expect(found('keys/caller.ts', '../auth/account.entity.js')).toMatch('index.ts alone');
    expect(found('protocols/messages/protocol.ts', '../responses/protocol.js')).toMatch('each other');
    expect(found('app/boot.ts', '../relay/relay.service.js')).toMatch('index.ts alone');
    expect(found('keys/caller.ts', '../app/boot.js')).toMatch('is above');
    expect(found('keys/caller.ts', '../auth/index.js')).toBeUndefined();
    expect(found('keys/caller.ts', '../../test/support/calls.js')).toMatch('outside src/');
    expect(found('keys/caller.spec.ts', '../../test/support/calls.js')).toBeUndefined();
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
      .filter(
        (file) => /^(?:platform\/shared|protocols\/contract)\//.test(relative(SRC, file)) && !file.endsWith('.spec.ts'),
      )
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
    expect(readers.map((file) => relative(SRC, file))).toEqual(['platform/config/config.ts']);
  });

  it('keeps entities and repositories to their own module', () => {
    const indexes = files.filter((file) => file.endsWith('/index.ts'));
    const exporters = indexes.filter((file) => /\.(?:entity|repository)\.js/.test(readFileSync(file, 'utf8')));
    expect(exporters.map((file) => relative(SRC, file))).toEqual([]);
  });

  it('defines functions and views in SQL files, not in migrations', () => {
    const folder = resolve(TEST, '../migrations');
    const definingSince = (first: string): string[] =>
      filesBelow(folder)
        .filter((file) => basename(file) > first)
        .filter((file) =>
          /CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE|VIEW)\b/i.test(readFileSync(file, 'utf8')),
        )
        .map((file) => `${basename(file)}: put it in src/platform/database/sql, or it has two definitions`);
    expect(definingSince(CREATES_SQL_CHECKSUMS)).toEqual([]);
    expect(definingSince('')).not.toEqual([]);
  });

  it('exports no type of one name from two files', () => {
    const exported = files
      .filter((file) => !file.endsWith('.spec.ts'))
      .flatMap((file) => readFileSync(file, 'utf8').match(EXPORTED_TYPE) ?? []);
    expect(exported.length).toBeGreaterThan(500);
    expect(exported.filter((name, index) => exported.indexOf(name) !== index)).toEqual([]);
  });

  it('keeps every file below 400 lines', () => {
    const all = [...files, ...filesBelow(resolve(SRC, '../test'))];
    const long = all.filter((file) => readFileSync(file, 'utf8').split('\n').length > 400);
    expect(long.map((file) => relative(SRC, file))).toEqual([]);
  });
});
