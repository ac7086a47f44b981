import type { Limits, DefaultLimits } from '../platform/limits/index.js';
import type { Pricing } from './pricing.js';

/** A capability or flag: `{ vision: true, thinkingMode: 'budget', stopMax: 4 }`. */
type FlagValue = boolean | number | string | readonly string[];
export type Flags = Readonly<Record<string, FlagValue>>;

/** Who may choose a group for keys: everyone, or only accounts it is assigned to. */
export const GROUP_CHOICES = ['everyone', 'assigned'] as const;
export type GroupChoice = (typeof GROUP_CHOICES)[number];

export interface CatalogGroup {
  readonly name: string;
  /** Price multiplier in millionths: 0.8 is 800_000n. */
  readonly multiplier: bigint;
  /** Multipliers of individual models, which take precedence. */
  readonly modelMultipliers: ReadonlyMap<string, bigint>;
  readonly description: string;
  readonly choice: GroupChoice;
  /** For all its calls together. */
  readonly limits: Limits;
}

export interface CatalogModel {
  readonly name: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Prompt and response together, in tokens. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  /** Groups that may call it; some may be disabled. */
  readonly groups: readonly string[];
  readonly capabilities: Flags;
  /** Assumed reasoning tokens per second while none can be counted; 0 for models without reasoning. */
  readonly hiddenTokensPerSecond: number;
  /** Disabled models are kept for display and cannot be called. */
  readonly enabled: boolean;
  /** Unix time in ms. */
  readonly createdAt: number;
  /** Current prices when this catalog was read, and the ID of their version. */
  readonly pricing: Pricing;
  readonly priceVersionId: string;
  /** Start of the current prices, Unix time in ms. */
  readonly pricesSince: number;
}

/** Known prices that begin later. */
interface UpcomingPrices {
  /** Start in Unix ms, by this process's clock. */
  readonly at: number;
  /** The model from then on. */
  readonly model: CatalogModel;
}

/** A version of everything that can be called and its prices. Immutable. */
export interface Catalog {
  /** `catalog_state.version` when this was read; admission compares it with the row. */
  readonly version: bigint;
  /** Enabled groups. */
  readonly groups: ReadonlyMap<string, CatalogGroup>;
  /** All models, including disabled ones (`enabled`). */
  readonly models: ReadonlyMap<string, CatalogModel>;
  /** By start; almost always empty. */
  readonly upcoming: readonly UpcomingPrices[];
  readonly defaultLimits: DefaultLimits;
}
