import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const DOCUMENTS = ['*.md', 'docs/*.md', 'bench/*.md', 'test/**/README.md'];
/** `[words](place)`, but not an address of the web. */
const LINK = /\[[^\]]*\]\((?!https?:)([^)\s]+)\)/g;
const CODE = /^```[\s\S]*?^```|`[^`\n]*`/gm;

const prose = (path: string): string => readFileSync(join(ROOT, path), 'utf8').replace(CODE, '');

/** The names under which a page can be linked to at its headings, as GitHub makes them. */
function anchors(path: string): Set<string> {
  const headings = readFileSync(join(ROOT, path), 'utf8').matchAll(/^#+ (.+)$/gm);
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
