import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { overridable } from '../src/platform/settings/sections/index.js';

const ROOT = resolve(import.meta.dirname, '..');
/** `| `PORT` | `3000` | …`: the first cell of each row of the tables. */
const ROW = /^\| `([A-Z_]+)`/gm;
/** `readonly PORT: number = 3000;`, which nothing else than the environment's class is read into. */
const VARIABLE = /^ {2}readonly ([A-Z_]+)\??:/gm;

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name).toSorted();
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The row of a setting's variable, without padding. */
const rowOf = (setting: ReturnType<typeof overridable>[number]): string => {
  const { variable, initial } = setting;
  const own = setting.toForm(initial);
  return `| \`${variable.name}\` | ${variable.unset ?? (own === '' ? 'none' : `\`${own}\``)} | ${variable.meaning} |`;
};

describe('environment variables', () => {
  const page = read('docs/configuration.md');
  const ofSettings = [...new Set(overridable().map(({ variable }) => variable.name))];

  it('are all documented in docs/configuration.md, and no others', () => {
    const documented = namesIn(page, ROW);
    expect(documented).toContain('DATABASE_URL');
    const declared = namesIn(read('src/platform/config/environment.ts'), VARIABLE);
    expect(documented).toEqual([...declared, ...ofSettings].toSorted());
  });

  it('that override settings are documented as declared', () => {
    expect(ofSettings).toContain('SIGN_UP');
    const rows = new Set(page.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' ')));
    expect(
      overridable()
        .map(rowOf)
        .filter((row) => !rows.has(row)),
    ).toEqual([]);
  });
});
