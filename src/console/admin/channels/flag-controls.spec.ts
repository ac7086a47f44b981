import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FLAGS } from './flag-controls.js';

const DOCUMENT = resolve(import.meta.dirname, '../../../../docs/catalog-file.md');
const LETTERS: Readonly<Record<string, string>> = {
  R: 'responses',
  C: 'chat-completions',
  M: 'messages',
  G: 'gemini',
  I: 'interactions',
};

/** Parses `| `audio` | R C | …`: flag names and their protocols. */
function documented(): [name: string, of: string[]][] {
  const [, table = ''] = readFileSync(DOCUMENT, 'utf8').split('## Flags');
  return [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)`\s*\| ([^|]*)\|/gm)].map(([, name = '', of = '']) => [
    name,
    (of.match(/\b[RCMGI]\b/g) ?? []).map((letter) => LETTERS[letter] ?? letter).toSorted(),
  ]);
}

describe('FLAGS', () => {
  it('covers the documented flags and their protocols', () => {
    const worded = FLAGS.map(({ name, of }) => [name, [...of].toSorted()] as const);
    expect(documented().length).toBeGreaterThan(30);
    expect(new Map(worded)).toEqual(new Map(documented()));
  });

  it('has full sentences and unique labels', () => {
    for (const { text } of FLAGS) expect(text).toMatch(/^[A-Z].*\.$/);
    expect(new Set(FLAGS.map(({ label }) => label)).size).toBe(FLAGS.length);
  });
});
