import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const GUIDE = 'docs/adding-a-protocol.md';
const TOY = 'test/conformance/toy';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The blocks of code that name a file of the toy: ```` ```ts telegraph.head.ts ````. */
const blocks = (): [name: string, code: string][] =>
  [...read(GUIDE).matchAll(/^```ts (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code]);

describe('the guide to adding a protocol', () => {
  it.each(blocks())('shows %s as it is', (name, code) => {
    expect(read(`${TOY}/${name}`)).toContain(code);
  });

  it('shows something of every file in which a dialect says what it is', () => {
    const shown = new Set(blocks().map(([name]) => name));
    // These are laid out by the script, and hardly changed.
    const laidOut = ['telegraph.module.ts', 'telegraph.upstream.ts', 'client.ts'];
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

  it('names no tool of src/call that it does not export', () => {
    const exported = ['src/call/index.ts', 'src/call/translation/index.ts', 'src/relay/index.ts'].map(read).join();
    const called = new Set([...read(GUIDE).matchAll(/`([a-z]\w+)\(/g)].map(([, name = '']) => name));
    const methods = /\b(\w+)(?:\?)?\(/g;
    const contracts = [
      'protocol-adapter',
      'upstream-adapter',
      'translation/adapter-contexts',
      'translation/conversation',
    ];
    const declared = contracts.flatMap((file) =>
      [...read(`src/call/${file}.ts`).matchAll(methods)].map(([, name]) => name),
    );
    const unknown = [...called].filter(
      (name) => !declared.includes(name) && !new RegExp(`\\b${name}\\b`).test(exported),
    );
    expect(unknown).toEqual([]);
  });
});
