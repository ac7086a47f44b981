import { Injectable } from '@nestjs/common';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import { Config } from '../../../platform/config/index.js';
import type { Clock } from '../../../platform/shared/index.js';
import type { BackOff } from '../health/account-backoffs.js';
import type { ChannelHealth } from '../health/channel-health.js';
import { credentialSubjectOf } from '../health/check-calls.js';
import { type Cooldown, stageOf } from '../health/cooldown.js';

/** A credential of a channel. */
interface CredentialChoice {
  /** Undefined for channels without credentials. */
  readonly credential: ChannelCredential | undefined;
  /** An expired cooldown to be probed. */
  readonly rest: Cooldown | undefined;
}

/** A channel that can be called now. */
export interface AvailableChannel {
  readonly isAskable: true;
  readonly channel: Channel;
  /** An expired cooldown to be probed. */
  readonly rest: Cooldown | undefined;
  /** Not empty. */
  readonly credentials: readonly CredentialChoice[];
}

/** A channel that serves the model but cannot be called now. */
export interface UnavailableChannel {
  readonly isAskable: false;
  readonly channel: Channel;
  /** Its concurrency limit is reached. */
  readonly isFull: boolean;
  /** Cooldowns and back-offs of the channel or its credentials; empty if all were tried. */
  readonly rests: readonly Pick<BackOff, 'reason' | 'untilMs'>[];
}

export type ChannelStatus = AvailableChannel | UnavailableChannel;

/** What a channel's status depends on. */
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
  readonly asked: ReadonlySet<string>;
}

/** Whether a channel can be called now and with which credentials, or why not. */
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
