import type { Channel } from '../../../catalog/channels/index.js';
import { AppError, type ErrorKind } from '../../../platform/shared/index.js';
import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { CooldownReason } from '../health/cooldown.js';
import type { AvailableChannel, ChannelStatus, UnavailableChannel } from './channel-status.js';

/** A channel that a call could use. */
export interface Prospect extends AvailableChannel {
  /** Share of calls without affinity that try it first: 0 to 1. */
  readonly firstShare: number;
}

/** What a call would use now, without side effects or randomness. */
export interface CallOutlook {
  /** In likely order; by weight where chance decides. */
  readonly prospects: readonly Prospect[];
  readonly hindered: readonly UnavailableChannel[];
  /** The error if no channel is available. */
  readonly shortage: NoChannel | undefined;
}

/** Available channels in order, with their shares. */
export function prospectsOf(standings: readonly ChannelStatus[], protocol: ProtocolId): readonly Prospect[] {
  const ordered = standings
    .filter((standing) => standing.isAskable)
    .toSorted(
      ({ channel: one }, { channel: other }) =>
        precedence(one, other, protocol) || drawnBy(other) - drawnBy(one) || one.name.localeCompare(other.name),
    );
  const [first] = ordered;
  if (first === undefined) return [];
  const isFirst = ({ channel }: AvailableChannel): boolean => precedence(channel, first.channel, protocol) === 0;
  const all = ordered.filter(isFirst).reduce((sum, { channel }) => sum + drawnBy(channel), 0);
  return ordered.map((one) => ({ ...one, firstShare: isFirst(one) ? drawnBy(one.channel) / all : 0 }));
}

type Placed = Pick<Channel, 'tier' | 'protocol' | 'weight'>;

/**
 * Negative if the first channel precedes: by tier, then the client's own protocol, then a positive weight. 0: chance
 * decides by weight.
 */
export function precedence(one: Placed, other: Placed, protocol: ProtocolId): number {
  if (one.tier !== other.tier) return one.tier - other.tier;
  const isNative = Number(other.protocol === protocol) - Number(one.protocol === protocol);
  return isNative || Number(one.weight === 0) - Number(other.weight === 0);
}

/** Weight for drawing; channels of weight 0 are drawn equally. */
export const drawnBy = ({ weight }: Placed): number => (weight === 0 ? 1 : weight);

/** Max wait suggested to clients. */
const LONGEST_WAIT_SECONDS = 60;
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
    const message = `No channel can serve the model "${model}" right now. Please try again in ${retryAfterSeconds}s. If this persists, contact an administrator.`;
    return new NoChannel('server_is_overloaded', message, retryAfterSeconds, isExhausted);
  }
}

/** Collects why channels cannot be called now. */
export class Shortage {
  private readonly reasons = new Set<CooldownReason | 'full'>();
  private waitMs = Infinity;

  constructor(private readonly nowMs: number) {}

  add({ isFull, rests }: Pick<UnavailableChannel, 'isFull' | 'rests'>): void {
    if (isFull) this.note('full', MOMENT_SECONDS * 1000);
    for (const { reason, untilMs } of rests) this.note(reason, Math.max(untilMs - this.nowMs, MOMENT_SECONDS * 1000));
  }

  /** The error for the client if no channel is left. */
  errorFor(model: string): NoChannel {
    if (this.reasons.size === 0) return NoChannel.for(model);
    const seconds = Math.min(Math.ceil(this.waitMs / 1000), LONGEST_WAIT_SECONDS);
    if (this.isOnly('rate_limit')) {
      const message = `All channels of the model "${model}" are at their rate limits. Please try again in ${seconds}s.`;
      return new NoChannel('rate_limit_exceeded', message, seconds, false);
    }
    if (this.isOnly('refused')) {
      const message = "The upstream rejected the relay's credential. Contact an administrator.";
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
