import type { Limits, DefaultLimits } from '../platform/limits/index.js';
import type { Pricing } from './pricing.js';

/** What a model or an upstream can do, as data: `{ vision: true, thinkingMode: 'budget', stopMax: 4 }`. */
type FlagValue = boolean | number | string | readonly string[];
export type Flags = Readonly<Record<string, FlagValue>>;

/** Who may choose a group for their keys: everyone, or those alone whose account it was given to. */
export const GROUP_CHOICES = ['everyone', 'assigned'] as const;
export type GroupChoice = (typeof GROUP_CHOICES)[number];

export interface CatalogGroup {
  readonly name: string;
  /** What a call's price is multiplied by, in millionths: 0.8 is 800_000n. */
  readonly multiplier: bigint;
  /** What it is for single models instead, likewise. */
  readonly modelMultipliers: ReadonlyMap<string, bigint>;
  readonly description: string;
  readonly choice: GroupChoice;
  /** Of all its calls together. */
  readonly limits: Limits;
}

export interface CatalogModel {
  readonly name: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Tokens of prompt and answer together. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  /** Names of the groups that may call it; some may be switched off. */
  readonly groups: readonly string[];
  readonly capabilities: Flags;
  /** What it is taken to think in a second in which nothing can be counted; 0 when it does not reason. */
  readonly hiddenTokensPerSecond: number;
  /** False for a model that was switched off: kept so that pages can name it, never callable. */
  readonly enabled: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The prices in force when this catalog was read, and the id of their row. */
  readonly pricing: Pricing;
  readonly priceVersionId: string;
  /** Since when they have been, in milliseconds since 1970. */
  readonly pricesSince: number;
}

/** Prices that are known already, and begin later. */
interface UpcomingPrices {
  /** When they begin, in milliseconds since 1970, by this process's clock. */
  readonly at: number;
  /** The model as it is from then on. */
  readonly model: CatalogModel;
}

/** Everything there is to call and what it costs, as of one version. Immutable: a change is a new one. */
export interface Catalog {
  /** `catalog_state.version` when this was read; admission compares it with the row. */
  readonly version: bigint;
  /** Only groups that are switched on. */
  readonly groups: ReadonlyMap<string, CatalogGroup>;
  /** All models, those switched off too: see `enabled`. */
  readonly models: ReadonlyMap<string, CatalogModel>;
  /** In the order in which they begin; as good as always empty. */
  readonly upcoming: readonly UpcomingPrices[];
  readonly usualLimits: DefaultLimits;
}
