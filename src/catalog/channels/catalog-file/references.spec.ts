import type { CatalogNames } from '../../index.js';
import { readCatalogFile } from './read-catalog-file.js';
import { referenceErrors } from './references.js';

const PROTOCOLS = new Map([
  ['responses', 'bearer'],
  ['messages', 'x-api-key'],
] as const);
const nothing: CatalogNames = { groups: new Set(), models: new Set() };

const errorsOf = (text: string, stored = nothing): string[] =>
  referenceErrors(readCatalogFile(text, 'f').entries, { stored, protocols: PROTOCOLS }).map(
    ({ path, message }) => `${path} ${message}`,
  );

const model = (name: string, fields = ''): string =>
  `{ name: ${name}, context_window: 1, max_output_tokens: 1, prices: free, ${fields} }`;
const channel = (fields: string): string => `{ name: c, protocol: messages, base_url: "http://localhost", ${fields} }`;

describe('referenceErrors', () => {
  it('accepts a self-contained file', () => {
    const text = `{ groups: [{ name: g }], models: [${model('m', 'groups: [g, default]')}], channels: [${channel('models: [m], groups: [g], credentials: [a]')}] }`;
    expect(errorsOf(text)).toEqual([]);
  });

  it('accepts references to stored objects', () => {
    const text = `{ channels: [${channel('models: [m], groups: [g], credentials: [a]')}] }`;
    expect(errorsOf(text, { groups: new Set(['g']), models: new Set(['m']) })).toEqual([]);
    expect(errorsOf(text)).toEqual([
      'channels[0].groups[0] refers to the group "g", which is neither in this file nor stored',
      'channels[0].models refers to the model "m", which is neither in this file nor stored',
    ]);
  });

  it('rejects references to stored objects that pruning disables', () => {
    const { entries } = readCatalogFile(`{ channels: [${channel('models: [m], credentials: [a]')}] }`, 'f');
    expect(referenceErrors(entries, { stored: undefined, protocols: PROTOCOLS })).toEqual([
      { path: 'channels[0].models', message: 'refers to the model "m", which is not in this file' },
    ]);
  });

  it('accepts the default group', () => {
    expect(errorsOf(`{ models: [${model('m', 'groups: [default]')}] }`)).toEqual([]);
  });

  it('rejects duplicate names', () => {
    expect(errorsOf(`{ models: [${model('m')}, ${model('n')}, ${model('m')}] }`)).toEqual([
      'models[2].name repeats the name of models[0]',
    ]);
  });

  it('rejects an unknown protocol, listing the known ones', () => {
    const text = `{ models: [${model('m')}], channels: [{ name: c, protocol: soap, base_url: "http://a", models: [m], credentials: [a] }] }`;
    expect(errorsOf(text)).toEqual(['channels[0].protocol must be one of responses, messages']);
  });

  it('requires credentials exactly when the channel sends any', () => {
    const file = (fields: string): string =>
      `{ models: [${model('m')}], channels: [${channel(`models: [m], ${fields}`)}] }`;
    expect(errorsOf(file(''))).toEqual(['channels[0].credentials is missing: add at least one, or set `auth: none`']);
    expect(errorsOf(file('auth: none, credentials: [a]'))).toEqual([
      'channels[0].credentials must be empty with `auth: none`',
    ]);
    expect(errorsOf(file('auth: none'))).toEqual([]);
  });

  it('rejects a channel header that collides with its auth header', () => {
    const file = (fields: string): string =>
      `{ models: [${model('m')}], channels: [${channel(`models: [m], credentials: [a], headers: { X-Team: b }, ${fields}`)}] }`;
    expect(errorsOf(file('auth: x-team'))).toEqual([
      'channels[0].headers must not set x-team: it carries the credential',
    ]);
    expect(errorsOf(file('auth: x-key'))).toEqual([]);
  });
});
