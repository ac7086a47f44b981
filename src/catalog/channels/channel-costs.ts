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

/** Stored upstream cost of a model: its own prices, or a share of the model's price as a decimal. */
export type CostDefinition = { readonly prices: PricingDefinition } | { readonly share: string };

/** By public model name; unknown for missing models. */
export type CostsDefinition = Readonly<Record<string, CostDefinition>>;

/** Parsed upstream cost of a model: prices, or a share of its list price in millionths. */
export type UpstreamCost = ({ readonly pricing: Pricing } | { readonly share: bigint }) & {
  /** ID of the cost version: `cst_…`. */
  readonly version: string;
};

/** @throws RangeError naming the invalid number */
export const parseCosts = (costs: CostsDefinition, version: string): ReadonlyMap<string, UpstreamCost> =>
  new Map(Object.entries(costs).map(([model, cost]) => [model, { ...parseCost(cost), version }]));

const parseCost = (cost: CostDefinition) =>
  'share' in cost ? { share: parseMultiplier(cost.share) } : { pricing: parsePricing(cost.prices) };

/** Facts of costs, one field per model. */
export const costFacts = (costs: CostsDefinition): Facts =>
  Object.fromEntries(Object.entries(costs).map(([model, cost]) => [`cost of ${model}`, describeCost(cost)]));

/** Whether they are equal, however they were written. */
export const chargeTheSame = (one: CostsDefinition, other: CostsDefinition): boolean =>
  revisionOf(costFacts(one)) === revisionOf(costFacts(other));

function describeCost(cost: CostDefinition): string {
  const parsed = parseCost(cost);
  return 'share' in parsed ? `${formatMultiplier(parsed.share)} × the price` : describePricing(parsed.pricing);
}
