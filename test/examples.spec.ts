import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { faultsOf } from './support/catalog-files.js';

const EXAMPLES = resolve(import.meta.dirname, '../examples');

describe('the examples of catalog files', () => {
  it.each(readdirSync(EXAMPLES))('%s can be read', (name) => {
    expect(faultsOf(readFileSync(join(EXAMPLES, name), 'utf8'))).toEqual([]);
  });
});
