import type { Catalog } from './catalog.js';

/**
 * The catalog as it is at a time, with the prices in force that have begun by then: the same object when none have.
 * Its version stays: what was read of the database is still true, and every process comes to the same by itself.
 */
export function catalogAt(catalog: Catalog, now: number): Catalog {
  const begun = catalog.upcoming.filter(({ at }) => at <= now);
  if (begun.length === 0) return catalog;
  return {
    ...catalog,
    models: new Map([...catalog.models, ...begun.map(({ model }) => [model.name, model] as const)]),
    upcoming: catalog.upcoming.slice(begun.length),
  };
}
