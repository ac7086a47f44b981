import type { CatalogGroup, CatalogModel, OfferedModel } from '../../../catalog/index.js';
import { times } from '../../../platform/format/index.js';
import { type Endpoint, endpointsOf, multiplierFor, type ProtocolEndpoint } from '../endpoints.js';

interface PriceList {
  /** The viewer's groups, their own first. */
  readonly groups: readonly CatalogGroup[];
  readonly group: CatalogGroup;
  readonly models: readonly OfferedModel[];
  readonly protocols: readonly ProtocolEndpoint[];
}

export function pricingView({ groups, group, models, protocols }: PriceList, query: PriceQuery) {
  const rows = priceRows(models, group, query, protocols);
  const since = Math.max(0, ...models.map(({ model }) => model.pricesSince));
  return {
    search: query.search,
    endpoints: [
      { value: '', label: 'Any endpoint', selected: query.endpoint === '' },
      ...protocols.map(({ id, name }) => ({
        value: id,
        label: `${name}, not translated`,
        selected: id === query.endpoint,
      })),
    ],
    capabilities: capabilityOptions(models, query),
    groups: groups.map((one) => ({ value: one.name, label: labelOf(one), selected: one.name === group.name })),
    sorts: SORTS.map((sort) => ({ ...sort, selected: sort.value === query.sort })),
    group: { name: group.name, description: group.description },
    rows,
    hasTiers: rows.some(({ tiers }) => tiers.length > 1),
    hasTranslated: rows.some(({ endpoints }) => endpoints.some(({ translated }) => translated)),
    isNarrowed: query.search !== '' || query.endpoint !== '' || query.capability !== '',
    clear: { href: `/pricing?group=${encodeURIComponent(group.name)}`, label: 'Clear filters' },
    since: since > 0 ? new Date(since) : undefined,
  };
}

/** Those that a model of the group has, and the selected one. */
const capabilityOptions = (models: readonly OfferedModel[], { capability }: PriceQuery) => [
  { value: '', label: 'Any capability', selected: capability === '' },
  ...CAPABILITIES.filter(({ value }) => value === capability || models.some(({ model }) => can(model, value))).map(
    (one) => ({ ...one, selected: one.value === capability }),
  ),
];

const can = ({ capabilities }: CatalogModel, capability: string): boolean =>
  (capabilities[capability] ?? false) !== false;

/** `saver, × 0.80` */
const labelOf = ({ name, multiplier }: CatalogGroup): string => `${name}, ${times(multiplier)}`;

/** Prices are exact, after the multiplier. */
interface PriceRow {
  readonly name: string;
  readonly href: string;
  readonly provider: string;
  readonly endpoints: readonly Endpoint[];
  readonly contextWindow: number;
  readonly free: boolean;
  /** Fee per call, if there is one. */
  readonly fee: string | undefined;
  readonly tiers: readonly PriceRowTier[];
}

interface PriceRowTier {
  /** Minimum prompt tokens. */
  readonly from: number;
  readonly input: string;
  readonly cached: string;
  readonly output: string;
}

export function priceRows(
  models: readonly OfferedModel[],
  group: CatalogGroup,
  query: PriceQuery,
  protocols: readonly ProtocolEndpoint[],
): PriceRow[] {
  return models
    .map((offered) => ({ model: offered.model, endpoints: endpointsOf(offered, protocols) }))
    .filter(({ model, endpoints }) => matches(model, endpoints, query))
    .toSorted((one, other) => compare(one.model, other.model, group, query) || byName(one.model, other.model))
    .map(({ model, endpoints }) => rowOf(model, endpoints, group));
}

function matches(model: CatalogModel, endpoints: readonly Endpoint[], query: PriceQuery): boolean {
  const { search, endpoint, capability } = query;
  const wanted = search.toLowerCase();
  const texts = [model.name, model.displayName, model.ownedBy];
  return (
    texts.some((text) => text.toLowerCase().includes(wanted)) &&
    (endpoint === '' || endpoints.some(({ id, translated }) => id === endpoint && !translated)) &&
    (capability === '' || can(model, capability))
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

const SORTS = [
  { value: 'provider', label: 'Provider' },
  { value: 'input', label: 'Input price' },
  { value: 'output', label: 'Output price' },
  { value: 'context', label: 'Context' },
] as const;

/** Capabilities that users look for; other flags describe how a model is called. */
const CAPABILITIES = [
  { value: 'tools', label: 'Tools' },
  { value: 'reasoning', label: 'Reasoning' },
  { value: 'vision', label: 'Image input' },
  { value: 'audio', label: 'Audio input' },
] as const;

type PriceSort = (typeof SORTS)[number]['value'];

export interface PriceQuery {
  /** Matched against name, title and provider; may be empty. */
  readonly search: string;
  /** Protocol ID that must be supported natively; empty: any. */
  readonly endpoint: string;
  /** Empty: any. */
  readonly capability: string;
  /** Empty: the viewer's own group. */
  readonly group: string;
  readonly sort: PriceSort;
}

const MAX_CHARACTERS = 100;

export type QueryParameters = Readonly<Record<string, unknown>>;

/** Ignores invalid parameters. */
export function priceQuery(parameters: QueryParameters): PriceQuery {
  const text = (name: string): string => {
    const value = parameters[name];
    return typeof value === 'string' ? value.trim().slice(0, MAX_CHARACTERS) : '';
  };
  const sort = SORTS.find(({ value }) => value === text('sort'))?.value ?? 'provider';
  const capability = CAPABILITIES.find(({ value }) => value === text('capability'))?.value ?? '';
  return { search: text('q'), endpoint: text('endpoint'), capability, group: text('group'), sort };
}

/** URL of a model's page. Names may contain slashes, and anything but whitespace. */
export function modelAddress(name: string, group?: string): string {
  const path = `/pricing/${name.split('/').map(encodeURIComponent).join('/')}`;
  return group === undefined ? path : `${path}?group=${encodeURIComponent(group)}`;
}

/** An exact price after a multiplier, in units of 1e-15 dollars. */
export const scaled = (nanos: bigint, millionths: bigint): bigint => nanos * millionths;

const PER_DOLLAR = 10n ** 15n;
const DIGITS = 15;

/** `$2.00`, `$0.0224`: at least two decimals, and no rounding. */
export function scaledPrice(amount: bigint): string {
  const fraction = (amount % PER_DOLLAR).toString().padStart(DIGITS, '0').replace(/0+$/, '');
  const whole = (amount / PER_DOLLAR).toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `$${whole}.${fraction.padEnd(2, '0')}`;
}
