import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const GUIDE = 'docs/adding-a-protocol.md';
/** The example. Its own spec compiles it and runs the conformance kit on it. */
const TOY = 'test/conformance/toy';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (pattern: string): string[] => globSync(pattern, { cwd: ROOT });
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);

/** The blocks of code that name a file of the example: ```` ```ts telegraph.head.ts ````. */
const blocks = (): [name: string, code: string][] =>
  [...read(GUIDE).matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code]);

describe('the guide to adding a protocol', () => {
  it.each(blocks())('shows %s as it is', (name, code) => {
    expect(read(`${TOY}/${name}`)).toContain(code);
  });

  it('links to every file of the example, or names its kind', () => {
    const guide = read(GUIDE);
    const files = filesIn(`${TOY}/*.ts`);
    expect(files.length).toBeGreaterThan(10);
    const isNamed = (path: string): boolean =>
      guide.includes(`](../${path})`) || guide.includes(`\`${basename(path).replace('telegraph.', '*.')}\``);
    expect(files.filter((path) => !isNamed(path))).toEqual([]);
  });

  it('names no file that does not exist', () => {
    const guide = read(GUIDE);
    const linked = matches(guide, /\]\((?!http)([^)#]+)[^)]*\)/g).map((path) => join(dirname(GUIDE), path));
    const paths = matches(guide, /`((?:src|test|scripts|docs)\/[\w./-]+)`/g);
    const ofExample = matches(guide, /`(telegraph\.\w+\.ts)`/g).map((name) => `${TOY}/${name}`);
    const created = /^(?:src\/protocols|test\/conformance\/protocols)\/telegraph\/$/;
    const missing = [...linked, ...paths, ...ofExample].filter(
      (path) => !created.test(path) && filesIn(path).length === 0,
    );
    expect(missing).toEqual([]);
  });

  it('names nothing that the code does not have, and neither do the comments of the example', () => {
    const sources = [
      'src/{protocols/contract,platform/shared,relay}/**/*.ts',
      'test/{conformance,support}/**/*.ts',
      'scripts/**/*.txt',
    ];
    const paths = filesIn(`{${sources.join()}}`).filter((path) => !path.startsWith(TOY) && !path.endsWith('.spec.ts'));
    const known = new Set(paths.flatMap((path) => read(path).match(/\w+/g) ?? []));
    const comments = filesIn(`${TOY}/*.ts`).flatMap((path) => read(path).match(/^ *(?:\/\*\*|\*|\/\/).*$/gm) ?? []);
    const inline = matches([read(GUIDE).replaceAll(/^```.*?^```$/gms, ''), ...comments].join('\n'), /`([^`\n]+)`/g);
    // Names of code: two words joined by a capital letter, `buildRequest`.
    const named = inline.flatMap((code) => code.match(/\b[A-Za-z]*[a-z][A-Z]\w*/g) ?? []);
    expect(new Set(named).size).toBeGreaterThan(60);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
