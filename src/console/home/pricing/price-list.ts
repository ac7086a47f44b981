import type { CatalogGroup, CatalogModel, OfferedModel } from '../../../catalog/index.js';
import type { ProtocolEndpoint } from '../protocol-endpoints.js';
import { type Endpoint, endpointsOf } from '../endpoints.js';
import { multiplierFor } from '../multiplier.js';
import { modelAddress, type PriceQuery } from './price-query.js';
import { scaled, scaledPrice } from './scaled-price.js';

/** A model in the list of a group. Prices are texts, exact, after the multiplier. */
export interface PriceRow {
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
