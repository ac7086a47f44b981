import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

// Keeps the habits that readers stumble over most out of what people read: strings, templates and documents.

const ROOT = resolve(import.meta.dirname, '..');

interface Habit {
  readonly pattern: RegExp;
  /** What to write instead. */
  readonly instead: string;
}

const HABITS: readonly Habit[] = [
  {
    pattern: /\b(?:whoever|nobody|somebody|everybody)\b/i,
    instead: 'name the role: user, administrator, client, process',
  },
  { pattern: /(?:^|[.!:] )Whose\b/, instead: 'subject, verb, object' },
  { pattern: /(?:^|[.!] )What [^.?!]*[.!]/, instead: 'subject, verb, object: begin with what acts' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bdialects?\b/i, instead: 'protocol' },
  { pattern: /\bstrangers?\b/i, instead: 'unauthenticated client, invalid key' },
  { pattern: /\bstop texts?\b/i, instead: 'stop sequence' },
  { pattern: /\bfaults?\b/i, instead: 'error' },
  { pattern: /\bso many\b/i, instead: 'a number, N, or max' },
  { pattern: /\bis told\b|\bare told\b/i, instead: 'is notified, is reported' },
  { pattern: /\b(?:channel|credential)s? rests?\b/i, instead: 'cooldown' },
];

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** One text that people read, and its place. */
interface Text {
  readonly place: string;
  readonly text: string;
}

const linesOf = (file: string, clean: (content: string) => string): readonly Text[] =>
  clean(readFileSync(file, 'utf8'))
    .split('\n')
    .map((text, index) => ({ place: `${relative(ROOT, file)}:${index + 1}`, text: text.trim() }));

const blanked = (match: string): string => match.replaceAll(/[^\n]/g, ' ');
const withoutCode = (markdown: string): string => markdown.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, blanked);
const withoutTags = (template: string): string =>
  template.replaceAll(/\{\{!--[\s\S]*?--\}\}|\{\{[\s\S]*?\}\}/g, blanked).replaceAll(/<\/?[a-z][^>]*>/gi, blanked);

/** Literals that are sentences or at least phrases: names and keys have no blanks. */
function stringsOf(file: string): readonly Text[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const texts: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const isPhrase =
        /\w \w/.test(node.text) && !/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER)\b/.test(node.text);
      if (isPhrase) texts.push({ place: `${relative(ROOT, file)}:${line + 1}`, text: node.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

const findings = (texts: readonly Text[]): readonly string[] =>
  texts.flatMap(({ place, text }) =>
    HABITS.filter(({ pattern }) => pattern.test(text)).map(
      ({ instead }) => `${place}: "${text.slice(0, 120)}": ${instead}`,
    ),
  );

describe('language', () => {
  it('keeps hard words out of strings', () => {
    const files = filesBelow('src', '.ts').filter((file) => !file.endsWith('.spec.ts'));
    expect(findings(files.flatMap(stringsOf))).toEqual([]);
  });

  it('keeps hard words out of templates', () => {
    expect(findings(filesBelow('views', '.hbs').flatMap((file) => linesOf(file, withoutTags)))).toEqual([]);
  });

  it('keeps hard words out of documents', () => {
    const files = [join(ROOT, 'README.md'), join(ROOT, 'ARCHITECTURE.md'), ...filesBelow('docs', '.md')];
    expect(findings(files.flatMap((file) => linesOf(file, withoutCode)))).toEqual([]);
  });

  it.each([
    ['Whoever has a key may call.'],
    ['What is read here stays.'],
    ['The limit is read anew.'],
    ['The channel rests until noon.'],
  ])('finds "%s"', (text) => {
    expect(findings([{ place: 'here', text }])).toHaveLength(1);
  });

  it('accepts questions and vendors’ words', () => {
    expect(findings([{ place: 'here', text: 'What does a call cost?' }])).toEqual([]);
  });
});
