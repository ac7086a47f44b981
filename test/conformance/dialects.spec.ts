import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { CLIENTS, VENDORS } from './dialects/index.js';

const PROTOCOLS = resolve(import.meta.dirname, '../../src/protocols');
const PLAYED = resolve(import.meta.dirname, 'dialects');

const foldersIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();

// Folders without an adapter are shared.
const isProtocol = (name: string): boolean =>
  ['upstream', 'protocol'].some((half) => existsSync(resolve(PROTOCOLS, name, `${half}.ts`)));
const CLIENT_PROTOCOLS = foldersIn(PROTOCOLS).filter(isProtocol);

it('every dialect that has a folder is played here, and no other', () => {
  expect(foldersIn(PLAYED)).toEqual(CLIENT_PROTOCOLS);
});

it.each(CLIENT_PROTOCOLS)('what %s can do is tested by the kit, and tests speak it', (dialect) => {
  expect(existsSync(resolve(PLAYED, dialect, `${dialect}.conformance.spec.ts`))).toBe(true);
  expect([...CLIENTS, ...VENDORS].map(({ id }) => id)).toContain(dialect);
});

it.each(CLIENTS.map(({ id }) => id))('%s has a table that says what each member of its requests does', (dialect) => {
  expect(foldersIn(PROTOCOLS)).toContain(dialect);
  expect(existsSync(resolve(PROTOCOLS, dialect, 'members.ts'))).toBe(true);
});

it('no client and no vendor is listed twice', () => {
  for (const list of [CLIENTS, VENDORS]) expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
});
