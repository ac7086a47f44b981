import type { CatalogGroup, CatalogModel, OfferedModel } from '../../../catalog/index.js';
import { times } from '../../../platform/format/index.js';
import { type Endpoint, endpointsOf, multiplierFor, type ProtocolEndpoint } from '../endpoints.js';

/** What the list of prices is made of. */
interface PriceList {
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

/** A model in the list of a group. Prices are texts, exact, after the multiplier. */
interface PriceRow {
  readonly name: string;
  readonly href: string;
  readonly provider: string;
  readonly endpoints: readonly Endpoint[];
  readonly contextWindow: number;
  readonly free: boolean;
  /** What each call costs beside its tokens; undefined for most. */
  readonly fee: string | undefined;
  /** The first applies to short prompts, each other one from so many tokens of prompt on. */
  readonly tiers: readonly PriceRowTier[];
}

interface PriceRowTier {
  readonly from: number;
  readonly input: string;
  readonly cached: string;
  readonly output: string;
}

/** The models of a group that a query asks for, in its order. */
export function priceRows(
  models: readonly OfferedModel[],
  group: CatalogGroup,
  query: PriceQuery,
  dialects: readonly ProtocolEndpoint[],
): PriceRow[] {
  return models
    .map((offered) => ({ model: offered.model, endpoints: endpointsOf(offered, dialects) }))
    .filter(({ model, endpoints }) => matches(model, endpoints, query))
    .toSorted((one, other) => compare(one.model, other.model, group, query) || byName(one.model, other.model))
    .map(({ model, endpoints }) => rowOf(model, endpoints, group));
}

function matches(model: CatalogModel, endpoints: readonly Endpoint[], { search, endpoint }: PriceQuery): boolean {
  const wanted = search.toLowerCase();
  const texts = [model.name, model.displayName, model.ownedBy];
  return (
    texts.some((text) => text.toLowerCase().includes(wanted)) &&
    (endpoint === '' || endpoints.some(({ id, translated }) => id === endpoint && !translated))
  );
}

function compare(one: CatalogModel, other: CatalogModel, group: CatalogGroup, { sort }: PriceQuery): number {
  if (sort === 'provider') return one.ownedBy.localeCompare(other.ownedBy);
  if (sort === 'context') return other.contextWindow - one.contextWindow;
  return sign(firstPrice(one, group, sort) - firstPrice(other, group, sort));
}

const firstPrice = ({ name, pricing }: CatalogModel, group: CatalogGroup, item: 'input' | 'output'): bigint =>
  scaled(pricing.tiers[0]?.prices[item] ?? 0n, multiplierFor(group, name));

const sign = (difference: bigint): number => Number(difference > 0n) - Number(difference < 0n);

const byName = (one: CatalogModel, other: CatalogModel): number => one.name.localeCompare(other.name);

function rowOf(model: CatalogModel, endpoints: readonly Endpoint[], group: CatalogGroup): PriceRow {
  const { name, ownedBy, contextWindow, pricing } = model;
  const text = (nanos: bigint): string => scaledPrice(scaled(nanos, multiplierFor(group, name)));
  return {
    name,
    href: modelAddress(name, group.name),
    provider: ownedBy,
    endpoints,
    contextWindow,
    free: pricing.costsNothing,
    fee: pricing.requestFee > 0n ? text(pricing.requestFee) : undefined,
    tiers: pricing.tiers.map(({ fromPromptTokens, prices }) => ({
      from: fromPromptTokens,
      input: text(prices.input),
      cached: text(prices.cache_read),
      output: text(prices.output),
    })),
  };
}

/** How the list is sorted. */
const SORTS = [
  { value: 'provider', label: 'Provider' },
  { value: 'input', label: 'Input price' },
  { value: 'output', label: 'Output price' },
  { value: 'context', label: 'Context' },
] as const;

type PriceSort = (typeof SORTS)[number]['value'];

/** What the address of the price list asks for. */
export interface PriceQuery {
  /** What the model's name, title or provider contains, in lower case; may be empty. */
  readonly search: string;
  /** The id of a dialect that is spoken without translation; empty: any. */
  readonly endpoint: string;
  /** Empty: the viewer's own. */
  readonly group: string;
  readonly sort: PriceSort;
}

const LONGEST = 100;

/** Reads the parts of an address that it knows. What makes no sense counts as not said. */
export function priceQuery(parts: Readonly<Record<string, unknown>>): PriceQuery {
  const text = (name: string): string => {
    const value = parts[name];
    return typeof value === 'string' ? value.trim().slice(0, LONGEST) : '';
  };
  const sort = SORTS.find(({ value }) => value === text('sort'))?.value ?? 'provider';
  return { search: text('q'), endpoint: text('endpoint'), group: text('group'), sort };
}

/** Whether the list is narrowed, and can be widened again. */
const isNarrowed = ({ search, endpoint }: PriceQuery): boolean => search !== '' || endpoint !== '';

/** The address of a model's page in a group. Its name may have slashes, and anything else but blanks. */
export function modelAddress(name: string, group?: string): string {
  const path = `/pricing/${name.split('/').map(encodeURIComponent).join('/')}`;
  return group === undefined ? path : `${path}?group=${encodeURIComponent(group)}`;
}

/** A price after a multiplier, exact: whole quadrillionths of a dollar (1e-15), which is what both can come to. */
export const scaled = (nanos: bigint, millionths: bigint): bigint => nanos * millionths;

const PER_DOLLAR = 10n ** 15n;
const DIGITS = 15;

/** `$2.00`, `$0.0224`: at least two digits after the point, and every one that it has. */
export function scaledPrice(amount: bigint): string {
  const fraction = (amount % PER_DOLLAR).toString().padStart(DIGITS, '0').replace(/0+$/, '');
  const whole = (amount / PER_DOLLAR).toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `$${whole}.${fraction.padEnd(2, '0')}`;
}
