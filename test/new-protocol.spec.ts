import { check, resolveConfig } from 'prettier';
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** Needed by the script and for compiling its files. */
const COPIED = ['scripts', 'src', 'migrations', 'test', 'tsconfig.json', '.prettierrc.json', 'package.json'];
const INDEXES = ['src/protocols/index.ts', 'test/conformance/protocols/index.ts'];
const MINUTE = 60_000;

describe('npm run new-protocol', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'new-protocol-'));
    for (const path of COPIED) cpSync(join(ROOT, path), join(root, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const run = (...args: readonly string[]): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const newProtocol = (...args: readonly string[]): SpawnSyncReturns<string> =>
    run('scripts/new-protocol.mjs', ...args);
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const filesOf = (name: string): string[] =>
    globSync(`{src/protocols,test/conformance/protocols}/${name}/*`, { cwd: root }).toSorted();

  /** Everything the script might change. */
  const state = (): string[] => [...filesOf('*'), ...INDEXES.map(read)];

  it.each([
    ['no name', [], 'is not a valid name'],
    ['a name with capitals', ['Morse'], 'is not a valid name'],
    ['a path as name', ['../morse'], 'is not a valid name'],
    ['a name that starts with a digit', ['2morse'], 'is not a valid name'],
    ['a name that ends with a hyphen', ['morse-'], 'is not a valid name'],
    ['a name that is too long', ['m'.repeat(33)], 'is not a valid name'],
    ['two names', ['morse', 'braille'], 'single name'],
    ['an existing protocol', ['messages'], 'already exists'],
    ['an unknown option', ['morse', '--sideways'], '--sideways'],
  ])('rejects %s, prints its usage and changes nothing', (_, args, words) => {
    const before = state();
    const { status, stderr } = newProtocol(...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(words)]);
    expect(stderr).toContain('npm run new-protocol -- <name>');
    expect(state()).toEqual(before);
  });

  it('changes nothing when a list has unexpected contents', () => {
    const [, doubles = ''] = INDEXES;
    const text = read(doubles);
    writeFileSync(join(root, doubles), text.replace('export const VENDORS', 'export const SELLERS'));
    const before = state();
    expect(newProtocol('morse')).toMatchObject({ status: 1, stderr: expect.stringContaining(doubles) as unknown });
    expect(state()).toEqual(before);
    writeFileSync(join(root, doubles), text);
  });

  it(
    'creates both halves or one of a protocol, compiling and formatted',
    async () => {
      const both = newProtocol('two-words');
      expect(both).toMatchObject({ status: 0, stderr: '' });
      for (const line of ['npm run conformance -- two-words', 'docs/adding-a-protocol.md', ...filesOf('two-words')])
        expect(both.stdout).toContain(line);
      expect(newProtocol('listener', '--client').status).toBe(0);
      expect(newProtocol('a-protocol-with-a-very-long-name', '--upstream').status).toBe(0);

      const written = [...INDEXES, ...['two-words', 'listener', 'a-protocol-with-a-very-long-name'].flatMap(filesOf)];
      for (const path of written) {
        const options = await resolveConfig(join(root, path));
        expect([path, await check(read(path), { ...options, filepath: path })]).toEqual([path, true]);
      }
      writeFileSync(
        join(root, 'tsconfig.new.json'),
        JSON.stringify({ extends: './tsconfig.json', include: [], files: written }),
      );
      expect(run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.new.json', '--noEmit').stdout).toBe('');
    },
    MINUTE,
  );

  it('creates no files of the other half', () => {
    const names = (name: string): string => filesOf(name).join(' ');
    expect(names('listener')).toMatch(/listener\/members\.ts .*listener\/protocol\.ts .*client\.ts/);
    expect(names('listener')).not.toMatch(/vendor|upstream|build|decoder/);
    expect(names('a-protocol-with-a-very-long-name')).not.toMatch(/client|protocol\.ts|members|controller|renderer/);
    expect(read('src/protocols/listener/listener.module.ts')).not.toContain('Upstream');
  });
});
