import { type CatalogModel, formatMultiplier, type Pricing } from '../catalog/index.js';
import { formatUsd } from '../shared/index.js';
import type { PriceTerms } from './price.js';

/**
 * What a row keeps of the prices, so that its cost can be worked out again from the row alone: JSON, decimals as strings.
 * Calls that are priced alike have the very same text.
 */
export type PriceSnapshot = string;

/** Texts by what they were made from: few for each price version, and they go when the catalog lets go of that. */
const made = new WeakMap<Pricing, Map<string, PriceSnapshot>>();

export function priceSnapshot(
  { pricing, priceVersionId }: Pick<CatalogModel, 'pricing' | 'priceVersionId'>,
  group: string,
  terms: PriceTerms,
  serviceTier: string,
): PriceSnapshot {
  // The tier's multiplier is the pricing's own; a group's is not.
  const name = `${terms.effortMultiplier} ${terms.groupMultiplier} ${serviceTier} ${group}`;
  const known = made.get(pricing);
  const text = known?.get(name) ?? render(priceVersionId, group, terms, serviceTier);
  if (known === undefined) made.set(pricing, new Map([[name, text]]));
  else known.set(name, text);
  return text;
}

const render = (priceVersionId: string, group: string, terms: PriceTerms, serviceTier: string): PriceSnapshot =>
  JSON.stringify({
    price_version: priceVersionId,
    free: terms.pricing.costsNothing,
    request_fee: formatUsd(terms.pricing.requestFee),
    tiers: terms.pricing.tiers.map(({ fromPromptTokens, prices }) => ({
      from_prompt_tokens: fromPromptTokens,
      ...Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, formatUsd(price)])),
    })),
    ...(terms.pricing.toolFees.size > 0 && {
      tool_fees: Object.fromEntries([...terms.pricing.toolFees].map(([tool, fee]) => [tool, formatUsd(fee)])),
    }),
    ...(serviceTier !== '' && { service_tier: serviceTier }),
    service_tier_multiplier: formatMultiplier(terms.serviceMultiplier),
    effort_multiplier: formatMultiplier(terms.effortMultiplier),
    group,
    group_multiplier: formatMultiplier(terms.groupMultiplier),
  });
