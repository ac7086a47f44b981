import type { Secret } from '../../platform/shared/index.js';
import type { ProtocolId } from '../../protocols/contract/index.js';
import {
  describePricing,
  type Facts,
  type Flags,
  formatMultiplier,
  parseMultiplier,
  parsePricing,
  type Pricing,
  type PricingDefinition,
  revisionOf,
} from '../index.js';
import type { ServiceAccount } from './service-account.js';

/** How a channel authenticates: `bearer`, `none`, or the name of the credential header. */
export type AuthForm = string;

export interface ChannelTimeouts {
  readonly connectMs: number;
  /** From the request to the first event of the response. */
  readonly firstEventMs: number;
  /** Between two chunks of the response. */
  readonly idleMs: number;
  /** For the whole attempt. */
  readonly totalMs: number;
}

/** A credential of a channel. */
export interface ChannelCredential {
  /** Derived from the secret and independent of process and position; reveals nothing. */
  readonly id: string;
  readonly secret: Secret;
  /** Set if the secret is a key file. Requests then carry an access token; `auth` is ignored. */
  readonly serviceAccount?: ServiceAccount;
}

/** An upstream account, ready to be called. Immutable; a change creates a new object with the same ID. */
export interface Channel {
  /** `chn_…` */
  readonly id: string;
  readonly name: string;
  /** ID of the upstream adapter. */
  readonly protocol: ProtocolId;
  /** Prefix of `/responses` and the like, without a trailing slash. */
  readonly baseUrl: string;
  readonly auth: AuthForm;
  /** Added to every URL. */
  readonly query: Readonly<Record<string, string>>;
  /** Upstream names by public model name; one or several equivalent names. */
  readonly models: ReadonlyMap<string, readonly string[]>;
  readonly groups: readonly string[];
  /** Lower tiers are tried first. */
  readonly tier: number;
  /** Share of calls within a tier; 0: only after all others. */
  readonly weight: number;
  readonly maxConcurrency: number | undefined;
  readonly timeouts: ChannelTimeouts;
  /** Added to every request; lower case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly flags: Flags;
  /** Channels of one family accept each other's reasoning signatures: the flag `family`, else the base URL's origin. */
  readonly family: string;
  /** Empty if auth is `none` or the channel is unavailable. */
  readonly credentials: readonly ChannelCredential[];
  /** Upstream costs by public model name; unknown for missing models. */
  readonly costs: ReadonlyMap<string, UpstreamCost>;
  /** Why this process cannot call the channel; undefined if it can. */
  readonly unavailableReason: string | undefined;
}

/** A disabled channel, which is not prepared for calls. */
export type DisabledChannel = Pick<Channel, 'id' | 'name' | 'protocol' | 'baseUrl' | 'models' | 'tier' | 'weight'>;

/** Whether the channel accepts calls of a protocol: its own, and others unless it is `nativeOnly`. */
export const takesCalls = ({ protocol, flags }: Pick<Channel, 'protocol' | 'flags'>, other: ProtocolId): boolean =>
  protocol === other || translates({ flags });

/** Whether it accepts calls of other protocols. */
export const translates = ({ flags }: Pick<Channel, 'flags'>): boolean => flags['nativeOnly'] !== true;

/** The upstream's name of the model. */
export const upstreamModel = ({ models }: Pick<Channel, 'models'>, model: string): string =>
  models.get(model)?.[0] ?? model;

/** False for dedicated upstream accounts, whose state IDs belong to one account. */
export const sharesState = ({ flags }: Pick<Channel, 'flags'>): boolean => flags['sharedState'] === true;

/** Whether unknown request members are rejected. */
export const refusesUnknownMembers = ({ flags }: Pick<Channel, 'flags'>): boolean =>
  flags['unknownMembers'] === 'refuse';

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
export const haveSameCosts = (one: CostsDefinition, other: CostsDefinition): boolean =>
  revisionOf(costFacts(one)) === revisionOf(costFacts(other));

function describeCost(cost: CostDefinition): string {
  const parsed = parseCost(cost);
  return 'share' in parsed ? `${formatMultiplier(parsed.share)} × the price` : describePricing(parsed.pricing);
}
