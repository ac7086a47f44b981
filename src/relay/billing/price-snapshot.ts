import { type CatalogModel, formatMultiplier, type Pricing } from '../../catalog/index.js';
import { formatUsd } from '../../platform/shared/index.js';
import type { PriceTerms } from './price.js';
import type { Service } from './service-tier.js';

/**
 * Prices kept in a row, from which its cost can be recomputed: JSON with decimals as strings. Equal prices give the
 * same string.
 */
export type PriceSnapshot = string;

/** Cached texts by their inputs: few per price version, released with the catalog. */
const made = new WeakMap<Pricing, Map<string, PriceSnapshot>>();

/** @param servedBy the serving model if it is not the requested one */
export function priceSnapshot(
  { pricing, priceVersionId }: Pick<CatalogModel, 'pricing' | 'priceVersionId'>,
  group: string,
  terms: PriceTerms,
  service: Service,
  servedBy = '',
): PriceSnapshot {
  // Service multipliers are part of the pricing, so their names identify them; the group's is not.
  const { tier, speed, geo } = service;
  const name = `${terms.effortMultiplier} ${terms.groupMultiplier} ${tier.name} ${speed.name} ${geo.name} ${servedBy} ${group}`;
  const known = made.get(pricing);
  const found = known?.get(name);
  if (found !== undefined) return found;
  const text = render(priceVersionId, group, terms, service, servedBy);
  if (known === undefined) made.set(pricing, new Map([[name, text]]));
  else known.set(name, text);
  return text;
}

/** Adds the snapshots of other models used by passes, by name. */
export function withPassPrices(snapshot: PriceSnapshot, passes: ReadonlyMap<string, PriceSnapshot>): PriceSnapshot {
  if (passes.size === 0) return snapshot;
  const models = [...passes].map(([model, text]) => `${JSON.stringify(model)}:${text}`).join(',');
  return `${snapshot.slice(0, -1)},"models":{${models}}}`;
}

const render = (
  priceVersionId: string,
  group: string,
  terms: PriceTerms,
  { tier, speed, geo }: Service,
  servedBy: string,
): PriceSnapshot =>
  JSON.stringify({
    price_version: priceVersionId,
    ...(servedBy !== '' && { served_by: servedBy }),
    free: terms.pricing.costsNothing,
    request_fee: formatUsd(terms.pricing.requestFee),
    tiers: terms.pricing.tiers.map(({ fromPromptTokens, prices }) => ({
      from_prompt_tokens: fromPromptTokens,
      ...formatted(prices),
    })),
    ...(terms.pricing.toolFees.size > 0 && { tool_fees: formatted(Object.fromEntries(terms.pricing.toolFees)) }),
    ...(terms.pricing.imageGeneration && { image_generation: formatted(terms.pricing.imageGeneration) }),
    ...(tier.name !== '' && { service_tier: tier.name }),
    service_tier_multiplier: formatMultiplier(tier.multiplier),
    ...(speed.name !== '' && { speed: speed.name, speed_multiplier: formatMultiplier(speed.multiplier) }),
    ...(geo.name !== '' && { geo: geo.name, geo_multiplier: formatMultiplier(geo.multiplier) }),
    effort_multiplier: formatMultiplier(terms.effortMultiplier),
    group,
    group_multiplier: formatMultiplier(terms.groupMultiplier),
  });

const formatted = (prices: Readonly<Record<string, bigint>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, formatUsd(price)]));
