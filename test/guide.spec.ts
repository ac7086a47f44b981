import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const GUIDE = 'docs/adding-a-protocol.md';
const TOY = 'test/conformance/toy';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The blocks of code that name a file of the toy: ```` ```ts telegraph.head.ts ````. */
const blocks = (): [name: string, code: string][] =>
  [...read(GUIDE).matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code]);

describe('the guide to adding a protocol', () => {
  it.each(blocks())('shows %s as it is', (name, code) => {
    expect(read(`${TOY}/${name}`)).toContain(code);
  });

  it('shows something of every file in which a dialect says what it is', () => {
    const shown = new Set(blocks().map(([name]) => name));
    // It is laid out by the script, and not changed.
    const laidOut = ['telegraph.module.ts'];
    const files = globSync(`${TOY}/*.ts`, { cwd: ROOT }).map((path) => path.slice(TOY.length + 1));
    expect(files.filter((name) => !shown.has(name)).toSorted()).toEqual(laidOut.toSorted());
  });

  it('names nothing that is not there', () => {
    const text = read(GUIDE);
    const linked = [...text.matchAll(/\]\((?!http)([^)#]+)[^)]*\)/g)].map(([, path = '']) =>
      join(dirname(GUIDE), path),
    );
    const named = [...text.matchAll(/`((?:src|test|scripts|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    const made = /^(?:src\/protocols|test\/conformance\/dialects)\/telegraph\/$/;
    const missing = [...linked, ...named].filter(
      (path) => !made.test(path) && globSync(path, { cwd: ROOT }).length === 0,
    );
    expect(missing).toEqual([]);
  });

  it('calls nothing that src/call does not have', () => {
    const paths = globSync('src/call/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.spec.ts'));
    const known = new Set(paths.flatMap((path) => read(path).match(/\b\w+\b/g) ?? []));
    const called = [...read(GUIDE).matchAll(/`(?:\w+\.)*([a-z]\w+)\(/g)].map(([, name = '']) => name);
    expect(called.length).toBeGreaterThan(30);
    expect(called.filter((name) => !known.has(name))).toEqual([]);
  });
});
