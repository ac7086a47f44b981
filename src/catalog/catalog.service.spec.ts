import { NO_DEFAULT_LIMITS } from '../platform/limits/index.js';
import type { Catalog, CatalogModel } from './catalog.js';
import { catalogAt } from './catalog.service.js';

const priced = (name: string, priceVersionId: string): CatalogModel => ({ name, priceVersionId }) as CatalogModel;
const catalog: Catalog = {
  version: 7n,
  defaultLimits: NO_DEFAULT_LIMITS,
  groups: new Map(),
  models: new Map([
    ['a', priced('a', 'a1')],
    ['b', priced('b', 'b1')],
  ]),
  upcoming: [
    { at: 100, model: priced('a', 'a2') },
    { at: 200, model: priced('a', 'a3') },
    { at: 200, model: priced('c', 'c1') },
  ],
};
const pricesAt = (now: number): string[] =>
  [...catalogAt(catalog, now).models.values()].map(({ priceVersionId }) => priceVersionId);

describe('upcoming prices', () => {
  it('take effect at their start time, not before', () => {
    expect(pricesAt(99)).toEqual(['a1', 'b1']);
    expect(pricesAt(100)).toEqual(['a2', 'b1']);
    expect(pricesAt(199)).toEqual(['a2', 'b1']);
    expect(pricesAt(200)).toEqual(['a3', 'b1', 'c1']);
  });

  it('all take effect after a long time without lookups', () => {
    expect(pricesAt(1_000_000)).toEqual(['a3', 'b1', 'c1']);
    expect(catalogAt(catalog, 1_000_000).upcoming).toEqual([]);
  });

  it('never change the version', () => {
    expect(catalogAt(catalog, 99)).toBe(catalog);
    expect(catalogAt(catalog, 200).version).toBe(7n);
  });
});
