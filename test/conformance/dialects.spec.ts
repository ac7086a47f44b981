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

it('has test doubles for exactly the protocols with a folder', () => {
  expect(foldersIn(PLAYED)).toEqual(CLIENT_PROTOCOLS);
});

it.each(CLIENT_PROTOCOLS)('tests %s with the kit, and has its doubles', (dialect) => {
  expect(existsSync(resolve(PLAYED, dialect, `${dialect}.conformance.spec.ts`))).toBe(true);
  expect([...CLIENTS, ...VENDORS].map(({ id }) => id)).toContain(dialect);
});

it.each(CLIENTS.map(({ id }) => id))('has a member table for %s', (dialect) => {
  expect(foldersIn(PROTOCOLS)).toContain(dialect);
  expect(existsSync(resolve(PROTOCOLS, dialect, 'members.ts'))).toBe(true);
});

it('lists no client and no vendor twice', () => {
  for (const list of [CLIENTS, VENDORS]) expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
});
