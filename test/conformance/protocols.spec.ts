import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { CLIENTS, VENDORS } from './protocols/index.js';

const PROTOCOLS = resolve(import.meta.dirname, '../../src/protocols');
const DOUBLES = resolve(import.meta.dirname, 'protocols');

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
  expect(foldersIn(DOUBLES)).toEqual(CLIENT_PROTOCOLS);
});

it.each(CLIENT_PROTOCOLS)('tests %s with the kit, and has its test doubles', (protocol) => {
  expect(existsSync(resolve(DOUBLES, protocol, `${protocol}.conformance.spec.ts`))).toBe(true);
  expect([...CLIENTS, ...VENDORS].map(({ id }) => id)).toContain(protocol);
});

it.each(CLIENTS.map(({ id }) => id))('has a member table for %s', (protocol) => {
  expect(foldersIn(PROTOCOLS)).toContain(protocol);
  expect(existsSync(resolve(PROTOCOLS, protocol, 'members.ts'))).toBe(true);
});

it('lists no client and no vendor twice', () => {
  for (const list of [CLIENTS, VENDORS]) expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
});
