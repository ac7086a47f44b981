import { costOf } from '../../../relay/billing/index.js';
import { NO_TOKENS, type TokenUsage } from '../../../protocols/contract/index.js';
import { type GroupDefinition, parseMultiplier, parsePricing, type PricingDefinition } from '../../../catalog/index.js';
import { times } from '../../../platform/format/index.js';

/** The sample call of price previews: 10,000 tokens in, 80% of them cached, and 1,000 out. */
export const SAMPLE: TokenUsage = { ...NO_TOKENS, input: 10_000, cacheRead: 8_000, output: 1_000 };
const ONE = 1_000_000n;

/** Cost of the sample call in a group, in nano-dollars; undefined if unknown. */
export interface GroupPays {
  readonly group: string;
  readonly multiplier: string;
  readonly now: bigint | undefined;
  readonly after: bigint | undefined;
}

/**
 * What users pay in each enabled group.
 * @param now the current prices, if any
 * @param after the entered prices; undefined if invalid
 */
export const payPreview = (
  model: string,
  groups: readonly GroupDefinition[],
  now: PricingDefinition | undefined,
  after: PricingDefinition | undefined,
): readonly GroupPays[] =>
  groups
    .filter(({ enabled }) => enabled)
    .map((group) => {
      const multiplier = multiplierIn(group, model);
      return {
        group: group.name,
        multiplier: times(multiplier),
        now: now && sampleCost(now, multiplier),
        after: after && sampleCost(after, multiplier),
      };
    });

/** In millionths. */
export const multiplierIn = (group: GroupDefinition, model: string): bigint =>
  parseMultiplier(group.models[model] ?? group.multiplier);

export const sampleCost = (pricing: PricingDefinition, groupMultiplier: bigint): bigint =>
  costOf({ pricing: parsePricing(pricing), serviceMultiplier: ONE, effortMultiplier: ONE, groupMultiplier }, SAMPLE);
