import { type Limits, limitsIn, renderLimits } from '../platform/limits/index.js';
import type { CatalogGroup, CatalogModel, Flags, GroupChoice } from './catalog.js';
import { type Facts, listed, sortedPairs } from './changes.js';
import type { GroupEntity } from './catalog.entities.js';
import { describePricing, formatMultiplier, parseMultiplier, parsePricing, type PricingDefinition } from './pricing.js';

/** A group as the operator defines it. */
export interface GroupDefinition {
  readonly name: string;
  /** Plain decimal, at most 6 digits after the point. */
  readonly multiplier: string;
  /** Other multipliers for single models, by name. */
  readonly models: Readonly<Record<string, string>>;
  readonly description: string;
  readonly choice: GroupChoice;
  /** False: kept for those who name it, and nothing is called under it. */
  readonly enabled: boolean;
  /** Of all its calls together. */
  readonly limits: Limits;
}

/** What a model costs from a moment on. */
export interface UpcomingPricing {
  readonly validFrom: Date;
  readonly pricing: PricingDefinition;
}

/** A model as the operator defines it. */
export type ModelDefinition = Pick<
  CatalogModel,
  'name' | 'displayName' | 'ownedBy' | 'contextWindow' | 'maxOutputTokens' | 'groups'
> & {
  readonly capabilities: Flags;
  /** Counts only for models that reason. */
  readonly hiddenTokensPerSecond: number;
  /** False: kept for those who name it, and never called. */
  readonly enabled: boolean;
  readonly pricing: PricingDefinition;
  /** From when on the prices are in force: at once when absent or past. */
  readonly validFrom?: Date | undefined;
  /** All prices that begin after these, in that order; undefined: those that are known already. */
  readonly upcoming?: readonly UpcomingPricing[] | undefined;
};

/** What a model that reasons is taken to think in a second, unless its definition says otherwise. */
export const DEFAULT_HIDDEN_TOKENS_PER_SECOND = 150;

/** As the operator defined it. */
export const groupDefinitionOf = ({ limits, ...columns }: GroupEntity): GroupDefinition => ({
  ...columns,
  limits: limitsIn(limits),
});

export const groupOf = (definition: GroupDefinition): CatalogGroup => ({
  name: definition.name,
  multiplier: parseMultiplier(definition.multiplier),
  modelMultipliers: new Map(
    Object.entries(definition.models).map(([model, multiplier]) => [model, parseMultiplier(multiplier)]),
  ),
  description: definition.description,
  choice: definition.choice,
  limits: definition.limits,
});

/** Whether a model thinks before it answers, as its capabilities say. */
export const reasons = ({ reasoning = false }: Flags): boolean => reasoning !== false;

/** What a change of a group is told by. */
export const groupFacts = (definition: GroupDefinition): Facts => ({
  multiplier: formatMultiplier(parseMultiplier(definition.multiplier)),
  models: Object.keys(definition.models)
    .toSorted()
    .map((model) => `${model} × ${formatMultiplier(parseMultiplier(definition.models[model] ?? '1'))}`)
    .join(', '),
  description: definition.description,
  choice: definition.choice,
  ...limitFacts(definition.limits),
});

/** What a change of limits is told by. */
export const limitFacts = (limits: Limits): Facts =>
  Object.fromEntries(Object.entries(renderLimits(limits)).map(([name, limit]) => [name, String(limit ?? '')]));

/** What a change of a model is told by; prices stand apart because they have versions. */
export const modelFacts = (
  definition: Omit<ModelDefinition, 'enabled' | 'pricing' | 'validFrom' | 'upcoming'>,
): Facts => ({
  display_name: definition.displayName,
  owned_by: definition.ownedBy,
  context_window: String(definition.contextWindow),
  max_output_tokens: String(definition.maxOutputTokens),
  groups: listed(definition.groups),
  capabilities: sortedPairs(definition.capabilities),
  hidden_tokens_per_second: String(definition.hiddenTokensPerSecond),
});

export const priceFacts = (definition: PricingDefinition): Facts => ({
  prices: describePricing(parsePricing(definition)),
});
