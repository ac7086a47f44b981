import type { CatalogGroup, CatalogModel, Flags } from './catalog.js';
import { type Facts, listed, sortedPairs } from './changes.js';
import { describePricing, formatMultiplier, parseMultiplier, parsePricing, type PricingDefinition } from './pricing.js';

/** A group as the operator defines it. */
export interface GroupDefinition {
  readonly name: string;
  /** Plain decimal, at most 6 digits after the point. */
  readonly multiplier: string;
  readonly description: string;
}

/** A model as the operator defines it. */
export type ModelDefinition = Pick<
  CatalogModel,
  'name' | 'displayName' | 'ownedBy' | 'contextWindow' | 'maxOutputTokens' | 'groups'
> & {
  readonly capabilities: Flags;
  readonly pricing: PricingDefinition;
};

export const groupOf = (definition: GroupDefinition): CatalogGroup => ({
  name: definition.name,
  multiplier: parseMultiplier(definition.multiplier),
  description: definition.description,
});

/** What a change of a group is told by. */
export const groupFacts = (definition: GroupDefinition): Facts => ({
  multiplier: formatMultiplier(parseMultiplier(definition.multiplier)),
  description: definition.description,
});

/** What a change of a model is told by; prices stand apart because they have versions. */
export const modelFacts = (definition: Omit<ModelDefinition, 'pricing'>): Facts => ({
  display_name: definition.displayName,
  owned_by: definition.ownedBy,
  context_window: String(definition.contextWindow),
  max_output_tokens: String(definition.maxOutputTokens),
  groups: listed(definition.groups),
  capabilities: sortedPairs(definition.capabilities),
});

export const priceFacts = (definition: PricingDefinition): Facts => ({
  prices: describePricing(parsePricing(definition)),
});
