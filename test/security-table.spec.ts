import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ALLOWANCES } from '../src/auth/throttle/throttle.js';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = 'docs';
/** A mark before the evidence; requirements without one are met. */
const MARK = /^(?:partly|not met|n\/a): /;

const read = (name: string): string => readFileSync(join(ROOT, FOLDER, name), 'utf8');
const page = read('security.md');
const asvs = read('asvs.md');
const text = `${page}\n${asvs}`;

/** The cells of all tables of a document, by row. */
const rowsOf = (document: string): string[][] =>
  document
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
const requirements = rowsOf(asvs).filter(([number = '']) => /^\d+\.\d+\.\d+$/.test(number));

/** ASVS 5.0: requirements of levels 1 and 2 in each section of a chapter, where they come before those of level 3. */
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
  // Of a client: authorization and resource servers, and consent, do not apply.
  10: [2, 2, 0, 0, 5],
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

const anchorsOf = (document: string): Set<string> =>
  new Set([...document.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => anchorOf(title)));

describe('docs/asvs.md', () => {
  it('lists every requirement of both levels once and in order', () => {
    const expected = Object.entries(CHAPTERS).flatMap(([chapter, sections]) =>
      sections.flatMap((count, section) =>
        Array.from({ length: count }, (_, index) => `${chapter}.${section + 1}.${index + 1}`),
      ),
    );
    expect(requirements.map(([number]) => number)).toEqual(expected);
  });

  it.each(requirements)('gives evidence for %s (%s)', (_, requirement = '', evidence = '') => {
    expect(requirement).not.toBe('');
    if (evidence !== 'n/a') expect(evidence.replace(MARK, '').length).toBeGreaterThan(8);
  });
});

describe('docs/security.md', () => {
  it('names, like docs/asvs.md, only files that exist', () => {
    const linked = [...text.matchAll(/\]\((?!http|#)([^)#]+)[^)]*\)/g)].map(([, path = '']) => join(FOLDER, path));
    const named = [...text.matchAll(/`((?:src|test|scripts|docs|views|migrations)\/[\w./-]+)`/g)].map(
      ([, path = '']) => path,
    );
    expect(named.length).toBeGreaterThan(100);
    expect([...linked, ...named].filter((path) => globSync(path, { cwd: ROOT }).length === 0)).toEqual([]);
  });

  it('names every file that derives a key', () => {
    const deriving = globSync('src/**/*.ts', { cwd: ROOT }).filter(
      (path) =>
        !path.endsWith('.spec.ts') && /new SealingKey\(|hkdfSync\(/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(deriving.length).toBeGreaterThan(8);
    expect(deriving.filter((path) => !page.includes(`\`${path}\``))).toEqual([]);
  });

  it('has every heading that it or docs/asvs.md links to', () => {
    const own = [...page.matchAll(/\]\(#([^)]+)\)/g)];
    const linked = [...own, ...asvs.matchAll(/\]\(security\.md#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    const headings = anchorsOf(page);
    expect(linked.length).toBeGreaterThan(20);
    expect(linked.filter((anchor) => !headings.has(anchor))).toEqual([]);
  });

  it('states the limits of the throttle', () => {
    const minutes = (ms: number): string => `${ms / 60_000} ${ms === 60_000 ? 'minute' : 'minutes'}`;
    const shown = rowsOf(page)
      .map(([attempts = '', ...figures]) => [/^`([\w-]+)`:/.exec(attempts)?.[1], ...figures])
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
