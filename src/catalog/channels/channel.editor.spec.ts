import { credentialChanges } from './channel.editor.js';
import type { StoredCredential } from './channel.entity.js';

const ONE: StoredCredential = { sealed: 'first', setAt: '2026-11-01T00:00:00Z' };
const TWO: StoredCredential = { sealed: 'second' };
const THREE: StoredCredential = { sealed: 'third' };
const ENV: StoredCredential = { env: 'KEY' };

describe('credential changes', () => {
  it.each<[string, StoredCredential[], StoredCredential[], string[]]>([
    ['nothing where they are the same', [ONE, ENV], [ONE, ENV], []],
    ['nothing where only the time of one is another', [ONE], [{ sealed: 'first' }], []],
    ['one is added', [ONE], [ONE, TWO], ['credential 2 added']],
    ['one is removed', [ONE, TWO], [TWO], ['credential 1 removed']],
    ['one takes the place of another', [ONE, TWO], [ONE, THREE], ['credential 2 replaced']],
    ['a variable takes the place of a secret', [ONE], [ENV], ['credential 1 replaced']],
    ['all are gone', [ONE, TWO], [], ['credential 1 removed', 'credential 2 removed']],
    ['they change places', [ONE, TWO], [TWO, ONE], ['credentials reordered']],
  ])('%s', (_, before, after, lines) => {
    expect(credentialChanges(before, after)).toEqual(lines);
  });

  it('never reveal a secret', () => {
    const said = credentialChanges([ONE, TWO], [THREE, ENV]).join();
    for (const secret of ['first', 'second', 'third', 'KEY']) expect(said).not.toContain(secret);
  });
});
