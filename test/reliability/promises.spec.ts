import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** What is promised of the worst day. Each has tests whose names begin with its number: `it('R4: …')`, or `describe`. */
const PROMISES: Readonly<Record<string, string>> = {
  R1: 'one answer or one error: another channel is asked only before anything of an answer was written',
  R2: 'a channel that failed is not asked again in the same call, and rests when it goes on failing',
  R3: 'connecting, beginning, going on and the whole have limits of time, for each channel its own',
  R4: 'when a client leaves, its upstream is left at once',
  R5: 'a slow client holds its upstream back, and no stream is kept in memory',
  R6: 'an answer that was cut off never looks complete',
  R7: 'an answer is the same however its bytes are cut',
  R8: 'a process that is told to stop lets calls end, and settles those that it cuts off',
  R9: 'without database or Redis nothing hangs or crashes, and all goes on by itself when they are back',
  R10: 'whatever is sent here is answered in the protocol of its sender, in bounded time and memory',
  R11: 'every answer has its ids and every call its row; strangers have none',
  R12: 'a defect ends one call and not the process',
};

const ROOT = resolve(import.meta.dirname, '../..');
const NAME = /\b(?:it|describe)\b[^'"`]*?\(\s*(['"`])(R\d+): (.*?)\1/gs;

function specsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return specsBelow(path);
    return entry.name.endsWith('.spec.ts') ? [path] : [];
  });
}

interface NamedTest {
  readonly promise: string;
  readonly name: string;
  readonly file: string;
}

const namedTests = (text: string, file: string): NamedTest[] =>
  [...text.matchAll(NAME)].map(([, , promise = '', name = '']) => ({ promise, name, file }));

/** Every test of a promise in the checkout; this file itself only speaks of them. */
const NAMED: readonly NamedTest[] = ['src', 'test']
  .flatMap((folder) => specsBelow(join(ROOT, folder)))
  .filter((file) => file !== import.meta.filename)
  .flatMap((file) => namedTests(readFileSync(file, 'utf8'), relative(ROOT, file)));

describe('the promises of the worst day', () => {
  it.each(Object.entries(PROMISES))('%s has a test: %s', (promise) => {
    expect(NAMED.filter((test) => test.promise === promise)).not.toEqual([]);
  });

  it('R9 has tests of both that can go', () => {
    const files = NAMED.filter(({ promise }) => promise === 'R9').map(({ file }) => file);
    expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/^test\/(?!services)/)]));
    expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/^test\/services\//)]));
  });

  it('are all that tests are named after', () => {
    expect(NAMED.filter(({ promise }) => !(promise in PROMISES))).toEqual([]);
  });

  it('are found in names alone, wherever these stand', () => {
    const text =
      "describe.each(X)('R1: a %s', f);\nit(\n  `R2: b`, f);\nconst note = 'R3: no test';\nit('c (R4: no)', f);";
    expect(namedTests(text, 'x').map(({ promise, name }) => `${promise} ${name}`)).toEqual(['R1 a %s', 'R2 b']);
  });
});
