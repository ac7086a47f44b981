import type { ProtocolId } from '../../protocols/contract/index.js';
import type { Flags } from '../index.js';
import type { Secret } from '../../platform/shared/index.js';
import type { UpstreamCost } from './channel-costs.js';

/** Where an upstream looks for the credential: `bearer` for a bearer token, `none` for nowhere, or in this header. */
export type AuthForm = string;

export interface ChannelTimeouts {
  readonly connectMs: number;
  /** From the request to the first event of the answer. */
  readonly firstEventMs: number;
  /** Between two chunks of the answer. */
  readonly idleMs: number;
  /** The whole attempt. */
  readonly totalMs: number;
}

/** What an upstream knows a channel by. */
export interface ChannelCredential {
  /** The same in every process and wherever it stands in the list; of another secret another. Tells nothing of it. */
  readonly id: string;
  readonly secret: Secret;
}

/** An account at an upstream, ready to be called. Immutable; a change of the catalog makes another one of the same id. */
export interface Channel {
  /** `chn_…` */
  readonly id: string;
  readonly name: string;
  /** The id of the upstream adapter that speaks to it. */
  readonly protocol: ProtocolId;
  /** What stands before `/responses` and the like, without a trailing slash. */
  readonly baseUrl: string;
  readonly auth: AuthForm;
  /** Added to every address. */
  readonly query: Readonly<Record<string, string>>;
  /** By a model's public name, what this upstream calls it: one name or several that do as well. */
  readonly models: ReadonlyMap<string, readonly string[]>;
  readonly groups: readonly string[];
  /** Lower is tried first. */
  readonly tier: number;
  /** The share of calls among channels of one tier; 0 is tried only after all others. */
  readonly weight: number;
  readonly maxConcurrency: number | undefined;
  readonly timeouts: ChannelTimeouts;
  /** Added to every request; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly flags: Flags;
  /** Channels of one family can read each other's signed reasoning: the flag `family`, else those of one address. */
  readonly family: string;
  /** Empty when auth is `none`, or when the channel is not usable. */
  readonly credentials: readonly ChannelCredential[];
  /** What the upstream charges, by a model's public name; of one that is not here nothing is known. */
  readonly costs: ReadonlyMap<string, UpstreamCost>;
  /** Why the channel cannot be called from this process; undefined when it can. */
  readonly unavailableReason: string | undefined;
}

/** What can be said of a channel that is stored and switched off: it is not made ready to be called. */
export type SwitchedOffChannel = Pick<Channel, 'id' | 'name' | 'protocol' | 'baseUrl' | 'models' | 'tier' | 'weight'>;

/** Whether calls of a dialect can go there: its own always, any other's where they may be translated. */
export const takesCalls = ({ protocol, flags }: Pick<Channel, 'protocol' | 'flags'>, asked: ProtocolId): boolean =>
  protocol === asked || translates({ flags });

/** A channel that takes calls of its own dialect alone says so. */
export const translates = ({ flags }: Pick<Channel, 'flags'>): boolean => flags['nativeOnly'] !== true;

/** The upstream's own name of the model. */
export const upstreamModel = ({ models }: Pick<Channel, 'models'>, model: string): string =>
  models.get(model)?.[0] ?? model;

/** Its upstream account belongs to one account of ours, so that no id of state that is kept there is anybody else's. */
export const sharesState = ({ flags }: Pick<Channel, 'flags'>): boolean => flags['sharedState'] === true;

/** Members of a request that no table names are refused there. */
export const refusesUnknownMembers = ({ flags }: Pick<Channel, 'flags'>): boolean =>
  flags['unknownMembers'] === 'refuse';
