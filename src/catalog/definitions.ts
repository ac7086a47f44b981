import { type Limits, limitsIn, renderLimits } from '../platform/limits/index.js';
import type { CatalogGroup, CatalogModel, Flags, GroupChoice } from './catalog.js';
import { type Facts, listed, sortedPairs } from './changes.js';
import type { GroupEntity } from './catalog.entities.js';
import { describePricing, formatMultiplier, parseMultiplier, parsePricing, type PricingDefinition } from './pricing.js';

/** A group as administrators define it. */
export interface GroupDefinition {
  readonly name: string;
  /** A decimal with at most 6 fraction digits. */
  readonly multiplier: string;
  /** Multipliers of individual models, by name. */
  readonly models: Readonly<Record<string, string>>;
  readonly description: string;
  readonly choice: GroupChoice;
  /** Disabled groups are kept for references and cannot be used. */
  readonly enabled: boolean;
  /** For all its calls together. */
  readonly limits: Limits;
}

/** Prices from a moment on. */
export interface UpcomingPricing {
  readonly validFrom: Date;
  readonly pricing: PricingDefinition;
}

/** A model as administrators define it. */
export type ModelDefinition = Pick<
  CatalogModel,
  'name' | 'displayName' | 'ownedBy' | 'contextWindow' | 'maxOutputTokens' | 'groups'
> & {
  readonly capabilities: Flags;
  /** Only applies to reasoning models. */
  readonly hiddenTokensPerSecond: number;
  /** Disabled models are kept for references and cannot be called. */
  readonly enabled: boolean;
  readonly pricing: PricingDefinition;
  /** Start of the prices; now if absent or past. */
  readonly validFrom?: Date | undefined;
  /** All later prices, ordered by start; undefined: keep the known ones. */
  readonly upcoming?: readonly UpcomingPricing[] | undefined;
};

/** Default assumed reasoning tokens per second. */
export const DEFAULT_HIDDEN_TOKENS_PER_SECOND = 150;

/** Restores the definition from the row. */
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

/** Whether the capabilities of a model include reasoning. */
export const reasons = ({ reasoning = false }: Flags): boolean => reasoning !== false;

/** Facts of a group. */
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

/** Facts of limits. */
export const limitFacts = (limits: Limits): Facts =>
  Object.fromEntries(Object.entries(renderLimits(limits)).map(([name, limit]) => [name, String(limit ?? '')]));

/** Facts of a model without prices, which have versions. */
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
