import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** `| `PORT` | `3000` | …`: the first cell of each row of the tables. */
const ROW = /^\| `([A-Z_]+)`/gm;
/** `readonly PORT: number = 3000;`, which nothing else than the environment's class is read into. */
const VARIABLE = /^ {2}readonly ([A-Z_]+)\??:/gm;

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name).toSorted();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe('environment variables', () => {
  it('are all documented in docs/configuration.md, and no others', () => {
    const documented = namesIn(read('docs/configuration.md'), ROW);
    expect(documented).toContain('DATABASE_URL');
    expect(documented).toEqual(namesIn(read('src/platform/config/environment.ts'), VARIABLE));
  });
});
