import type { CatalogGroup, OfferedModel } from '../../../catalog/index.js';
import { times } from '../../../platform/format/index.js';
import type { ProtocolEndpoint } from '../protocol-endpoints.js';
import { priceRows } from './price-list.js';
import { isNarrowed, type PriceQuery, SORTS } from './price-query.js';

/** What the list of prices is made of. */
export interface PriceList {
  /** That the viewer may choose, their own first. */
  readonly groups: readonly CatalogGroup[];
  /** The one whose prices are shown. */
  readonly group: CatalogGroup;
  /** Those that can be called in it. */
  readonly models: readonly OfferedModel[];
  readonly dialects: readonly ProtocolEndpoint[];
}

export function pricingView({ groups, group, models, dialects }: PriceList, query: PriceQuery) {
  const rows = priceRows(models, group, query, dialects);
  const since = Math.max(0, ...models.map(({ model }) => model.pricesSince));
  return {
    search: query.search,
    endpoints: [
      { value: '', label: 'Any endpoint', selected: query.endpoint === '' },
      ...dialects.map(({ id, name }) => ({ value: id, label: `${name} as it is`, selected: id === query.endpoint })),
    ],
    groups: groups.map((one) => ({ value: one.name, label: labelOf(one), selected: one.name === group.name })),
    sorts: SORTS.map((sort) => ({ ...sort, selected: sort.value === query.sort })),
    group: { name: group.name, description: group.description },
    rows,
    hasTiers: rows.some(({ tiers }) => tiers.length > 1),
    hasTranslated: rows.some(({ endpoints: answered }) => answered.some(({ translated }) => translated)),
    isNarrowed: isNarrowed(query),
    clear: { href: `/pricing?group=${encodeURIComponent(group.name)}`, label: 'Clear filters' },
    since: since > 0 ? new Date(since) : undefined,
  };
}

/** `saver, × 0.80` */
const labelOf = ({ name, multiplier }: CatalogGroup): string => `${name}, ${times(multiplier)}`;
