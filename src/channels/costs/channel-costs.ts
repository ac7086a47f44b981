import {
  describePricing,
  type Facts,
  formatMultiplier,
  parseMultiplier,
  parsePricing,
  type Pricing,
  type PricingDefinition,
} from '../../catalog/index.js';

/** What an upstream charges for a model, as it is stored: by prices of its own, or as a share of the model's, a decimal. */
export type CostDefinition = { readonly prices: PricingDefinition } | { readonly share: string };

/** By the model's public name. */
export type CostsDefinition = Readonly<Record<string, CostDefinition>>;

/** The same, ready to count with: prices, or millionths of the model's own list price. */
export type UpstreamPrices = { readonly pricing: Pricing } | { readonly share: bigint };

/** What a channel's upstream charges, of one version. Immutable. */
export interface ChannelCosts {
  /** `cst_…` */
  readonly version: string;
  /** By the model's public name; of one that is not here nothing is known. */
  readonly of: ReadonlyMap<string, UpstreamPrices>;
}

/** What an attempt is counted by. */
export type AttemptCosts = UpstreamPrices & { readonly version: string };

/** @throws RangeError naming the number that is no plain decimal */
export const parseCost = (cost: CostDefinition): UpstreamPrices =>
  'share' in cost ? { share: parseMultiplier(cost.share) } : { pricing: parsePricing(cost.prices) };

/** What a change of the costs is told by: a field for each model. */
export const costFacts = (costs: CostsDefinition): Facts =>
  Object.fromEntries(
    Object.keys(costs)
      .toSorted()
      .map((model) => [`cost of ${model}`, describeCost(costs[model])]),
  );

function describeCost(cost: CostDefinition | undefined): string {
  if (cost === undefined) return '';
  const parsed = parseCost(cost);
  return 'share' in parsed ? `${formatMultiplier(parsed.share)} of the price` : describePricing(parsed.pricing);
}
