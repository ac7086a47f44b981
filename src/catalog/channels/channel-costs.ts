import {
  describePricing,
  type Facts,
  formatMultiplier,
  parseMultiplier,
  parsePricing,
  type Pricing,
  type PricingDefinition,
  revisionOf,
} from '../index.js';

/** What an upstream charges for a model, as it is stored: prices of its own, or a share of the model's, a plain decimal. */
export type CostDefinition = { readonly prices: PricingDefinition } | { readonly share: string };

/** By the models' public names; of one that is not here nothing is known. */
export type CostsDefinition = Readonly<Record<string, CostDefinition>>;

/** What an upstream charges for a model, ready to count with: prices, or millionths of the model's own list price. */
export type UpstreamCost = ({ readonly pricing: Pricing } | { readonly share: bigint }) & {
  /** The version of the channel's costs that says so: `cst_…`. */
  readonly version: string;
};

/** @throws RangeError naming the number that is no plain decimal */
export const parseCosts = (costs: CostsDefinition, version: string): ReadonlyMap<string, UpstreamCost> =>
  new Map(Object.entries(costs).map(([model, cost]) => [model, { ...parseCost(cost), version }]));

const parseCost = (cost: CostDefinition) =>
  'share' in cost ? { share: parseMultiplier(cost.share) } : { pricing: parsePricing(cost.prices) };

/** What a change of the costs is told by: a field for each model. */
export const costFacts = (costs: CostsDefinition): Facts =>
  Object.fromEntries(Object.entries(costs).map(([model, cost]) => [`cost of ${model}`, describeCost(cost)]));

/** However they were written. */
export const chargeTheSame = (one: CostsDefinition, other: CostsDefinition): boolean =>
  revisionOf(costFacts(one)) === revisionOf(costFacts(other));

function describeCost(cost: CostDefinition): string {
  const parsed = parseCost(cost);
  return 'share' in parsed ? `${formatMultiplier(parsed.share)} × the price` : describePricing(parsed.pricing);
}
