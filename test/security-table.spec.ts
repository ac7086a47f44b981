import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ALLOWANCES } from '../src/auth/throttle/throttle.js';

const ROOT = resolve(import.meta.dirname, '..');
const PAGE = 'docs/security.md';
const VERDICTS = ['met', 'partly', 'not met', 'none'];
const text = readFileSync(join(ROOT, PAGE), 'utf8');

/** The cells of all tables, line by line. */
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
const requirements = rows.filter(([number = '']) => /^\d+\.\d+\.\d+$/.test(number));

/** How many requirements of levels 1 and 2 the sections of a chapter of ASVS 5.0 have: in each they come first. */
const CHAPTERS: Readonly<Record<string, readonly number[]>> = {
  1: [2, 9, 11, 3, 2],
  2: [3, 3, 4, 1],
  3: [0, 2, 4, 6, 5, 0, 2],
  4: [3, 1, 2, 4],
  5: [1, 3, 2, 3],
  6: [3, 11, 3, 4, 5, 3, 0, 4],
  7: [3, 4, 2, 5, 2, 2],
  8: [2, 3, 1, 1],
  9: [3, 4],
  11: [2, 3, 3, 4, 1, 1],
  12: [3, 2, 4],
  13: [1, 5, 2, 5],
  14: [2, 4, 3],
  15: [3, 3, 7],
  16: [1, 5, 4, 3, 3],
};

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');

describe('the page on security', () => {
  it('has every requirement of both levels, once and in order', () => {
    const expected = Object.entries(CHAPTERS).flatMap(([chapter, sections]) =>
      sections.flatMap((count, section) =>
        Array.from({ length: count }, (_, index) => `${chapter}.${section + 1}.${index + 1}`),
      ),
    );
    expect(requirements.map(([number]) => number)).toEqual(expected);
  });

  it.each(requirements)('says of %s (%s) whether it is met, and how', (_, asks = '', verdict = '', how = '') => {
    expect(asks).not.toBe('');
    expect(VERDICTS).toContain(verdict);
    if (verdict !== 'none') expect(how.length).toBeGreaterThan(8);
  });

  it('names nothing that is not there', () => {
    const linked = [...text.matchAll(/\]\((?!http|#)([^)#]+)[^)]*\)/g)].map(([, path = '']) =>
      join(dirname(PAGE), path),
    );
    const named = [...text.matchAll(/`((?:src|test|scripts|docs|views|migrations)\/[\w./-]+)`/g)].map(
      ([, path = '']) => path,
    );
    expect(named.length).toBeGreaterThan(100);
    expect([...linked, ...named].filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
  });

  it('names every place in which a key is derived', () => {
    const deriving = globSync('src/**/*.ts', { cwd: ROOT }).filter(
      (path) =>
        !path.endsWith('.spec.ts') && /new SealingKey\(|hkdfSync\(/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(deriving.length).toBeGreaterThan(8);
    expect(deriving.filter((path) => !text.includes(`\`${path}\``))).toEqual([]);
  });

  it('leads only to parts that it has', () => {
    const titles = new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title)));
    const anchors = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    expect(anchors.filter((anchor) => !titles.has(anchor))).toEqual([]);
  });

  it('has the figures of what is tried too often', () => {
    const minutes = (ms: number): string => `${ms / 60_000} ${ms === 60_000 ? 'minute' : 'minutes'}`;
    const shown = rows
      .map(([tried = '', ...figures]) => [/^`([\w-]+)`:/.exec(tried)?.[1], ...figures])
      .filter(([name]) => name !== undefined);
    expect(shown).toEqual(
      Object.entries(ALLOWANCES).map(([name, { limit, windowMs, blockMs }]) => [
        name,
        `${limit} in ${minutes(windowMs)}`,
        minutes(blockMs),
      ]),
    );
  });
});
