import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const DOCUMENTS = ['*.md', 'docs/**/*.md', 'bench/*.md', 'test/**/README.md'];
/** `[words](place)`, but not an address of the web. */
const LINK = /\[[^\]]*\]\((?!https?:)([^)\s]+)\)/g;
const BLOCK = /^```[\s\S]*?^```/gm;
const INLINE = /`[^`\n]*`/g;
/** A path from the root, and the name of a file whose folder was said before it. */
const PATH = /`((?:src|views|migrations|test|bench|docs|scripts|deploy)\/[^`\s]*)`/g;
const NAME = /`([\w.-]+\.ts)`/g;

const withoutBlocks = (path: string): string => readFileSync(join(ROOT, path), 'utf8').replace(BLOCK, '');
const prose = (path: string): string => withoutBlocks(path).replace(INLINE, '');

/** The names under which a page can be linked to at its headings, as GitHub makes them. */
function anchors(path: string): Set<string> {
  const headings = withoutBlocks(path).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** What is wrong with a link of a document, if anything is. */
function fault(from: string, link: string): string | undefined {
  const [file = '', heading] = link.split('#');
  const path = file === '' ? from : join(dirname(from), file);
  if (!existsSync(join(ROOT, path))) return `${from}: nothing is at ${link}`;
  if (heading !== undefined && !anchors(path).has(heading)) return `${from}: no heading is ${link}`;
  return undefined;
}

describe('the links of the documents', () => {
  const links = globSync(DOCUMENTS, { cwd: ROOT, exclude: ['**/node_modules/**'] }).flatMap((document) =>
    [...prose(document).matchAll(LINK)].map(([, link = '']) => ({ document, link })),
  );

  it('lead to files and headings that are there', () => {
    expect(links.length).toBeGreaterThan(50);
    expect(links.map(({ document, link }) => fault(document, link)).filter(Boolean)).toEqual([]);
  });
});

describe('the length of the documents', () => {
  const wordsOf = (pattern: string): number =>
    globSync(pattern, { cwd: ROOT, exclude: ['docs/asvs.md'] })
      .flatMap((path) => readFileSync(join(ROOT, path), 'utf8').split(/\s+/))
      .filter((word) => word !== '').length;

  it.each([
    ['README.md', 1200],
    ['ARCHITECTURE.md', 2500],
    ['docs/**/*.md', 18_000],
  ])('of %s is at most %i words', (pattern, limit) => {
    const words = wordsOf(pattern);
    expect(words).toBeGreaterThan(limit / 2);
    expect(words).toBeLessThanOrEqual(limit);
  });
});

describe('a page of docs/', () => {
  it.each(globSync('docs/*.md', { cwd: ROOT, exclude: ['docs/asvs.md'] }))(
    'has at most 1,500 words besides tables: %s',
    (path) => {
      const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^\|.*$/gm, '');
      expect(text.split(/\s+/).length).toBeLessThanOrEqual(1500);
    },
  );
});

describe('the map of the program and its decisions', () => {
  const pages = ['ARCHITECTURE.md', ...globSync('docs/decisions/*.md', { cwd: ROOT })];
  const text = pages.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
  const named = (what: RegExp): string[] => [...text.matchAll(what)].map(([, name = '']) => name);

  it('names files and folders that are there', () => {
    const paths = named(PATH);
    expect(paths.length).toBeGreaterThan(50);
    const missing = paths.filter((path) => {
      const pattern = path.replaceAll(/<\w+>/g, '*');
      return globSync(pattern, { cwd: ROOT }).length === 0;
    });
    expect(missing).toEqual([]);
  });

  it('names no file that is nowhere', () => {
    const sources = globSync('{src,test,migrations,bench,scripts}/**/*.ts', {
      cwd: ROOT,
      exclude: ['**/node_modules/**'],
    });
    const names = new Set(sources.map((path) => basename(path)));
    expect(named(NAME).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('the decisions', () => {
  const decisions = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT }).toSorted();

  it('have a title with the number of the file, and a date', () => {
    expect(decisions.length).toBeGreaterThan(30);
    const isComplete = (path: string): boolean => {
      const heading = /^# (\d+)\. .+\n\nDate: \d{4}-\d{2}-\d{2}\.\n/.exec(readFileSync(join(ROOT, path), 'utf8'));
      return heading?.[1]?.padStart(4, '0') === basename(path).slice(0, 4);
    };
    expect(decisions.filter((path) => !isComplete(path))).toEqual([]);
  });
});

describe('the reasons of the dependencies', () => {
  const [, section = ''] = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').split('\n## Dependencies\n');
  const named = [...section.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const isNamed = (dependency: string): boolean =>
    named.some((name) => (name.endsWith('*') ? dependency.startsWith(name.slice(0, -1)) : name === dependency));

  it('are given for each direct dependency', () => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    const direct = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(direct.length).toBeGreaterThan(50);
    expect(direct.filter((dependency) => !isNamed(dependency))).toEqual([]);
  });
});
