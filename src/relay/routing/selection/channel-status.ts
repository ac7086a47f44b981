import { Injectable } from '@nestjs/common';
import {
  type Channel,
  type ChannelCredential,
  type DisabledChannel,
  takesCalls,
} from '../../../catalog/channels/index.js';
import { Config } from '../../../platform/config/index.js';
import { AppError, type Clock, type ErrorKind } from '../../../platform/shared/index.js';
import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { ChannelHealth } from '../health/channel-health.js';
import { type BackOff, type Cooldown, type CooldownReason, credentialSubjectOf, stageOf } from '../health/cooldown.js';

/** Seeds the draw, so that a conversation gets the same channel every time in every process. */
export type Affinity = number;

const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;
const TWO_TO_32 = 2 ** 32;

/** A hash of whatever identifies the conversation. */
export const affinityOf = (...names: readonly string[]): Affinity =>
  names.reduce((hash, name) => hashed(`${name}\n`, hash), FNV_OFFSET);

/**
 * When an exponential clock with the weight as its rate rings; the first clock wins. Each wins in proportion to its
 * weight, also after others are left out. With an affinity the times are deterministic: a conversation keeps its
 * channel, moves to the next one while that is out, and returns; adding or removing a channel only moves its own share.
 */
export function drawTime(weight: number, name: string, affinity: Affinity | undefined, random: Random): number {
  const chance = affinity === undefined ? random.next() : mixed(hashed(name, affinity)) / TWO_TO_32;
  return -Math.log(1 - chance) / weight;
}

/** FNV-1a, continued from an earlier hash. */
function hashed(text: string, before: number): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash >>> 0;
}

/** Finalizer of MurmurHash3: every output bit depends on every input bit. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85_eb_ca_6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2_b2_ae_35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Injected, so that tests can control it. */
@Injectable()
export class Random {
  /** In [0, 1). */
  next(): number {
    return Math.random();
  }
}

/** A credential of a channel. */
interface CredentialChoice {
  /** Undefined for channels without credentials. */
  readonly credential: ChannelCredential | undefined;
  /** An expired cooldown to be probed. */
  readonly cooldown: Cooldown | undefined;
}

/** A channel that can be called now. */
export interface AvailableChannel {
  readonly isAvailable: true;
  readonly channel: Channel;
  /** An expired cooldown to be probed. */
  readonly cooldown: Cooldown | undefined;
  /** Not empty. */
  readonly credentials: readonly CredentialChoice[];
}

/** A channel that serves the model but cannot be called now. */
export interface UnavailableChannel {
  readonly isAvailable: false;
  readonly channel: Channel;
  /** Its concurrency limit is reached. */
  readonly isFull: boolean;
  /** Cooldowns and back-offs of the channel or its credentials; empty if all were tried. */
  readonly cooldowns: readonly Pick<BackOff, 'reason' | 'untilMs'>[];
}

export type ChannelStatus = AvailableChannel | UnavailableChannel;

/** Inputs of a channel's status. */
interface Conditions {
  readonly health: ChannelHealth;
  readonly load: ChannelLoad;
  readonly clock: Clock;
  /** Account of the call. */
  readonly accountId: string;
  /** False: no probes. */
  readonly mayProbe: boolean;
  /** Usable credentials; undefined for channels without. */
  readonly credentials: readonly (ChannelCredential | undefined)[];
  /** Subjects of credentials that have failed in this call. */
  readonly tried: ReadonlySet<string>;
}

/** Whether a channel can be called now and with which credentials, or why not. */
export function channelStatus(channel: Channel, conditions: Conditions): ChannelStatus {
  const { health, load, credentials, tried, accountId } = conditions;
  if (load.isFull(channel)) return { isAvailable: false, channel, isFull: true, cooldowns: [] };
  const backOff = health.backOffOf(channel, accountId);
  if (backOff !== undefined) return { isAvailable: false, channel, isFull: false, cooldowns: [backOff] };
  const cooldown = health.cooldownOf(channel);
  if (cooldown !== undefined && !isDue(cooldown, conditions))
    return { isAvailable: false, channel, isFull: false, cooldowns: [cooldown] };
  const usable: CredentialChoice[] = [];
  const cooldowns: UnavailableChannel['cooldowns'][number][] = [];
  for (const credential of credentials) {
    if (tried.has(credentialSubjectOf(channel, credential))) continue;
    const ofCredential = health.credentialCooldownOf(channel, credential);
    const ofAccount = health.credentialBackOffOf(channel, credential, accountId);
    if (ofAccount !== undefined) cooldowns.push(ofAccount);
    else if (ofCredential !== undefined && !isDue(ofCredential, conditions)) cooldowns.push(ofCredential);
    else usable.push({ credential, cooldown: ofCredential });
  }
  if (usable.length === 0) return { isAvailable: false, channel, isFull: false, cooldowns };
  return { isAvailable: true, channel, cooldown, credentials: usable };
}

const isDue = (cooldown: Cooldown, { mayProbe, clock }: Conditions): boolean =>
  mayProbe && stageOf(cooldown, clock.now()) === 'due';

/**
 * Running calls of this process by channel. A channel's limit applies to one host: each worker gets an equal share,
 * rounded up. Hosts do not coordinate.
 */
@Injectable()
export class ChannelLoad {
  private readonly running = new Map<string, number>();

  constructor(private readonly config: Config) {}

  isFull({ id, maxConcurrency }: Channel): boolean {
    if (maxConcurrency === undefined) return false;
    return (this.running.get(id) ?? 0) >= Math.ceil(maxConcurrency / this.config.workers);
  }

  enter({ id }: Channel): void {
    this.running.set(id, (this.running.get(id) ?? 0) + 1);
  }

  leave({ id }: Channel): void {
    const others = (this.running.get(id) ?? 0) - 1;
    if (others > 0) this.running.set(id, others);
    else this.running.delete(id);
  }
}

/** A channel that a call could use. */
export interface Prospect extends AvailableChannel {
  /** Share of calls without affinity that try it first: 0 to 1. */
  readonly firstShare: number;
}

/** The selection for a call now, without side effects or randomness. */
export interface CallOutlook {
  /** In likely order; by weight where chance decides. */
  readonly prospects: readonly Prospect[];
  readonly unavailable: readonly UnavailableChannel[];
  /** The error if no channel is available. */
  readonly shortage: NoChannel | undefined;
}

/** Available channels in order, with their shares. */
export function prospectsOf(statuses: readonly ChannelStatus[], protocol: ProtocolId): readonly Prospect[] {
  const ordered = statuses
    .filter((status) => status.isAvailable)
    .toSorted(
      ({ channel: one }, { channel: other }) =>
        precedence(one, other, protocol) || drawWeight(other) - drawWeight(one) || one.name.localeCompare(other.name),
    );
  const [first] = ordered;
  if (first === undefined) return [];
  const isFirst = ({ channel }: AvailableChannel): boolean => precedence(channel, first.channel, protocol) === 0;
  const all = ordered.filter(isFirst).reduce((sum, { channel }) => sum + drawWeight(channel), 0);
  return ordered.map((one) => ({ ...one, firstShare: isFirst(one) ? drawWeight(one.channel) / all : 0 }));
}

type RankedChannel = Pick<Channel, 'tier' | 'protocol' | 'weight'>;

/**
 * Negative if the first channel precedes: by tier, then the client's own protocol, then a positive weight. 0: chance
 * decides by weight.
 */
export function precedence(one: RankedChannel, other: RankedChannel, protocol: ProtocolId): number {
  if (one.tier !== other.tier) return one.tier - other.tier;
  const isNative = Number(other.protocol === protocol) - Number(one.protocol === protocol);
  return isNative || Number(one.weight === 0) - Number(other.weight === 0);
}

/** Weight for drawing; channels of weight 0 are drawn equally. */
export const drawWeight = ({ weight }: RankedChannel): number => (weight === 0 ? 1 : weight);

/** Max wait suggested to clients. */
const MAX_WAIT_SECONDS = 60;
/** Suggested wait if unknown: a full channel or a running probe is resolved quickly. */
const MOMENT_SECONDS = 1;
const UNKNOWN_WAIT_SECONDS = 10;

/** No channel, or no further channel, is available. */
export class NoChannel extends AppError {
  constructor(
    kind: ErrorKind,
    message: string,
    retryAfterSeconds: number | undefined,
    /** Waiting does not help: all were tried, or there is none. */
    readonly isExhausted: boolean,
  ) {
    super(kind, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  }

  static for(model: string, retryAfterSeconds = UNKNOWN_WAIT_SECONDS, isExhausted = true): NoChannel {
    const message = `No provider is available for the model "${model}" right now. Please try again in ${retryAfterSeconds}s. If this persists, contact an administrator.`;
    return new NoChannel('server_is_overloaded', message, retryAfterSeconds, isExhausted);
  }
}

/** Collects why channels cannot be called now. */
export class Shortage {
  private readonly reasons = new Set<CooldownReason | 'full'>();
  private waitMs = Infinity;

  constructor(private readonly nowMs: number) {}

  add({ isFull, cooldowns }: Pick<UnavailableChannel, 'isFull' | 'cooldowns'>): void {
    if (isFull) this.note('full', MOMENT_SECONDS * 1000);
    for (const { reason, untilMs } of cooldowns)
      this.note(reason, Math.max(untilMs - this.nowMs, MOMENT_SECONDS * 1000));
  }

  /** The error for the client if no channel is left. */
  errorFor(model: string): NoChannel {
    if (this.reasons.size === 0) return NoChannel.for(model);
    const seconds = Math.min(Math.ceil(this.waitMs / 1000), MAX_WAIT_SECONDS);
    if (this.isOnly('rate_limit')) {
      const message = `All providers of the model "${model}" are at their rate limits. Please try again in ${seconds}s.`;
      return new NoChannel('rate_limit_exceeded', message, seconds, false);
    }
    if (this.isOnly('refused')) {
      const message = "The provider rejected this service's credentials. Contact an administrator.";
      return new NoChannel('upstream_auth', message, undefined, false);
    }
    return NoChannel.for(model, seconds, false);
  }

  private note(reason: CooldownReason | 'full', waitMs: number): void {
    this.reasons.add(reason);
    this.waitMs = Math.min(this.waitMs, waitMs);
  }

  private isOnly(reason: CooldownReason): boolean {
    return this.reasons.size === 1 && this.reasons.has(reason);
  }
}

/** Why a channel that serves a model is not considered. */
export type Exclusion =
  | { readonly why: 'switched-off' }
  /** `reason` as in `Channel.unavailableReason`. */
  | { readonly why: 'unavailable'; readonly reason: string }
  | { readonly why: 'other-groups'; readonly groups: readonly string[] }
  /** It only accepts its own protocol. */
  | { readonly why: 'native-only' };

export interface Excluded {
  readonly channel: DisabledChannel | Channel;
  readonly exclusion: Exclusion;
}

/** For channels known to be excluded; the reasons in the order in which an administrator would fix them. */
export function exclusionOf(channel: DisabledChannel | Channel, group: string, protocol: ProtocolId): Exclusion {
  if (!('unavailableReason' in channel)) return { why: 'switched-off' };
  const { unavailableReason, groups } = channel;
  if (unavailableReason !== undefined) return { why: 'unavailable', reason: unavailableReason };
  if (!groups.includes(group)) return { why: 'other-groups', groups };
  if (!takesCalls(channel, protocol)) return { why: 'native-only' };
  throw new TypeError(`The channel ${channel.name} takes such calls.`);
}
