import { Injectable } from '@nestjs/common';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import { Config } from '../../../platform/config/index.js';
import type { Clock } from '../../../platform/shared/index.js';
import type { BackOff } from '../health/account-backoffs.js';
import type { ChannelHealth } from '../health/channel-health.js';
import { credentialSubjectOf } from '../health/check-calls.js';
import { type Cooldown, stageOf } from '../health/cooldown.js';

/** What a channel can be called with. */
interface CredentialChoice {
  /** Undefined for a channel that is called without any. */
  readonly credential: ChannelCredential | undefined;
  /** It rested, and its time is up: it is to be tried. */
  readonly rest: Cooldown | undefined;
}

/** A channel that can be asked now. */
export interface AvailableChannel {
  readonly isAskable: true;
  readonly channel: Channel;
  /** It rested, and its time is up: it is to be tried. */
  readonly rest: Cooldown | undefined;
  /** At least one. */
  readonly credentials: readonly CredentialChoice[];
}

/** A channel that cannot be asked now, though it serves what is wanted. */
export interface UnavailableChannel {
  readonly isAskable: false;
  readonly channel: Channel;
  /** It answers as many calls as it may. */
  readonly isFull: boolean;
  /** Of the channel, or of its credentials, for all or for this account; none when they have all been asked. */
  readonly rests: readonly Pick<BackOff, 'reason' | 'untilMs'>[];
}

export type ChannelStatus = AvailableChannel | UnavailableChannel;

/** What the standing of a channel depends on. */
interface Conditions {
  readonly health: ChannelHealth;
  readonly load: ChannelLoad;
  readonly clock: Clock;
  /** The account of the call. */
  readonly accountId: string;
  /** False: nobody may be tried whose rest is up. */
  readonly mayProbe: boolean;
  /** Those that may be used for this call; undefined stands for a call without any. */
  readonly credentials: readonly (ChannelCredential | undefined)[];
  /** Credentials that this call has been refused with, by their subjects. */
  readonly asked: ReadonlySet<string>;
}

/** Whether a channel can be asked now and with what, or what keeps it from being asked. */
export function channelStatus(channel: Channel, conditions: Conditions): ChannelStatus {
  const { health, load, credentials, asked, accountId } = conditions;
  if (load.isFull(channel)) return { isAskable: false, channel, isFull: true, rests: [] };
  const backOff = health.backOffOf(channel, accountId);
  if (backOff !== undefined) return { isAskable: false, channel, isFull: false, rests: [backOff] };
  const rest = health.restOf(channel);
  if (rest !== undefined && !isDue(rest, conditions))
    return { isAskable: false, channel, isFull: false, rests: [rest] };
  const usable: CredentialChoice[] = [];
  const rests: UnavailableChannel['rests'][number][] = [];
  for (const credential of credentials) {
    if (asked.has(credentialSubjectOf(channel, credential))) continue;
    const ofCredential = health.restOfCredential(channel, credential);
    const ofAccount = health.backOffOfCredential(channel, credential, accountId);
    if (ofAccount !== undefined) rests.push(ofAccount);
    else if (ofCredential !== undefined && !isDue(ofCredential, conditions)) rests.push(ofCredential);
    else usable.push({ credential, rest: ofCredential });
  }
  if (usable.length === 0) return { isAskable: false, channel, isFull: false, rests };
  return { isAskable: true, channel, rest, credentials: usable };
}

const isDue = (rest: Cooldown, { mayProbe, clock }: Conditions): boolean =>
  mayProbe && stageOf(rest, clock.now()) === 'due';

/**
 * How many calls of this process each channel is answering. A channel's bound is that of the whole installation on one
 * host: each worker keeps to its share of it, rounded up. Several hosts know nothing of each other's.
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
