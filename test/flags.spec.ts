import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** `| `audio` | R C | …`: the first cell of each row of the table. */
const ROW = /^\| `(\w+)`/gm;
/** What reads flags: the protocols, each in one file, the relay and the channels. */
const READERS =
  'src/{protocols/{*/flags,contract/google},relay/prepared-request,catalog/channels/channel,catalog/channels/channel-definition}.ts';
/** `flags['audio']`, and `const { efforts, oneSampler = false } = flags`, also of a target. */
const BY_NAME = /\bflags\['(\w+)'\]/g;
const TAKEN_OUT = /\{([\w\s,=.()[\]']+)\}(?: = (?:target\.)?flags;|: UpstreamTarget\['flags'\])/g;

const documented = (): string[] => {
  const [, table = ''] = readFileSync(join(ROOT, 'docs/catalog-file.md'), 'utf8').split('## Flags');
  return [...(table.split('\n## ')[0] ?? '').matchAll(ROW)].map(([, name = '']) => name);
};

function read(): string[] {
  const texts = globSync(READERS, { cwd: ROOT }).map((path) => readFileSync(join(ROOT, path), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(BY_NAME)].map(([, name = '']) => name));
  const taken = texts.flatMap((text) =>
    [...text.matchAll(TAKEN_OUT)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim().split(' ')[0]),
    ),
  );
  return [...named, ...taken].filter((name) => name !== undefined);
}

describe('the flags of channels and models', () => {
  it('are those that docs/catalog-file.md has a table of', () => {
    expect(documented().toSorted()).toEqual([...new Set(read())].toSorted());
  });
});
