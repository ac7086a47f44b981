import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** Read by whatever Node the host has, from 20.19 on. */
const FOLDERS = ['scripts', '.ci'];
/** What newer ones have brought. */
const NEWER =
  /\b(?:glob|globSync|matchesGlob|registerHooks|withResolvers|fromAsync|groupBy|Promise\.try|RegExp\.escape|import\.meta\.main)\b/g;

const scripts = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
).filter((path) => path.endsWith('.mjs'));

describe('the scripts', () => {
  it.each(scripts)('%s asks for nothing that Node 20.19 does not have', (path) => {
    expect(readFileSync(join(ROOT, path), 'utf8').match(NEWER) ?? []).toEqual([]);
  });
});
