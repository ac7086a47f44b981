import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** `| `PORT` | `3000` | …`: the first cell of each row of the table. */
const ROW = /^\| `([A-Z_]+)`/gm;
/** `readonly PORT: number = 3000;`, which nothing else than the environment's class is read into. */
const VARIABLE = /^ {2}readonly ([A-Z_]+)\??:/gm;

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name).toSorted();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe('the variables of the environment', () => {
  it('are those that README has a table of', () => {
    const [, section = ''] = read('README.md').split('\n## Environment\n');
    const documented = namesIn(section.split('\n## ')[0] ?? '', ROW);
    expect(documented).toContain('DATABASE_URL');
    expect(documented).toEqual(namesIn(read('src/config/environment.ts'), VARIABLE));
  });
});
