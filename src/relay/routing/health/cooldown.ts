import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import type { AppError } from '../../../platform/shared/index.js';

/** Why a credential or channel cools down. */
export type CooldownReason = CredentialError | 'failures';

/** A cooldown of a channel or credential, shared by all processes. Immutable. */
export interface Cooldown {
  /** From `subjectOf` or `credentialSubjectOf`. */
  readonly subject: string;
  /** Unique per cooldown. */
  readonly id: string;
  readonly reason: CooldownReason;
  /** By this process's clock. */
  readonly untilMs: number;
  /** Consecutive cooldowns, including this one. */
  readonly strikes: number;
  /** Until then a call probes, here or in another process; 0: none. */
  readonly probeUntilMs: number;
}

/** `due`: expired, and one call should probe. */
type Stage = 'cooling' | 'probing' | 'due';

export function stageOf({ untilMs, probeUntilMs }: Cooldown, nowMs: number): Stage {
  if (nowMs < untilMs) return 'cooling';
  return nowMs < probeUntilMs ? 'probing' : 'due';
}

/** Rate limits with a known end need no probe. */
export const isOver = ({ reason, untilMs }: Cooldown, nowMs: number): boolean =>
  reason === 'rate_limit' && nowMs >= untilMs;

/** Why a credential is unusable while others may work. */
const CREDENTIAL_ERRORS = ['rate_limit', 'refused', 'no_money'] as const;
export type CredentialError = (typeof CREDENTIAL_ERRORS)[number];

/** A failure of a credential, or any other that another channel may avoid. */
type UpstreamFailure = CredentialError | 'failure';

/**
 * Undefined if the upstream is not at fault: invalid requests, cancelled clients, the relay's own limits; and requests
 * for a wrong model or beyond the upstream's size limits, which say nothing about other requests. Errors about an
 * upstream must set `failover`.
 */
export function classifyFailure({ kind, details }: AppError): UpstreamFailure | undefined {
  if (details.failover !== true || details.unknownModel === true || details.ofRequest === true) return undefined;
  if (kind === 'rate_limit_exceeded') return 'rate_limit';
  if (kind === 'upstream_auth') return 'refused';
  return details.outOfMoney === true ? 'no_money' : 'failure';
}

export const isOfCredential = (failure: UpstreamFailure | undefined): failure is CredentialError =>
  failure !== undefined && failure !== 'failure';

const MINUTE_MS = 60_000;

/**
 * When a channel or credential cools down or an account backs off, and for how long. Chosen for a team with few calls:
 * five outcomes within a minute are enough to judge; fewer are covered by failover. Half of them must fail, since an
 * unreliable upstream still serves more calls than none. The first pause is short, so that a glitch costs seconds, and
 * doubles up to a minute, the longest `Retry-After` that clients get.
 */
@Injectable()
export class HealthLimits {
  /** How long outcomes are remembered. */
  readonly windowMs: number = MINUTE_MS;
  /** Min outcomes to judge by. */
  readonly minOutcomes: number = 5;
  /** Min share of failures. */
  readonly minFailureShare: number = 0.5;
  /** First pause of a failing channel; doubles with each consecutive one. */
  readonly pauseMs: number = 5000;
  readonly maxPauseMs: number = MINUTE_MS;
  /** For rejected credentials and exhausted upstream accounts. */
  readonly credentialCooldownMs: number = 5 * MINUTE_MS;
  /** Max cooldown of a rate-limited credential, whatever the upstream requests. */
  readonly maxRateLimitMs: number = 24 * 60 * MINUTE_MS;
  /** No further check call is sent with a credential for this long after one succeeded. */
  readonly checkAgainMs: number = 10_000;
  /** After a pause one call probes; if it has shown nothing after this time, another one may. */
  readonly probeMs: number = 30_000;
}

/** A back-off of one account's calls from a channel or credential. */
export interface BackOff {
  readonly reason: CooldownReason;
  /** By this process's clock. */
  readonly untilMs: number;
  /** Consecutive back-offs, including this one. */
  readonly strikes: number;
}

/** Beyond this, one is dropped for each added. */
const MAX_BACK_OFFS = 10_000;

/**
 * Back-offs by account, in this process: what fails for one account may work for others. Expired ones are kept, so that
 * the next in a row is longer.
 */
export class AccountBackOffs {
  /** By subject, then by account. */
  private readonly subjects = new Map<string, Map<string, BackOff>>();
  private size = 0;

  /** Undefined if none is active at that time. */
  find(subject: string, accountId: string, nowMs: number): BackOff | undefined {
    if (this.size === 0) return undefined;
    const backOff = this.last(subject, accountId);
    return backOff !== undefined && nowMs < backOff.untilMs ? backOff : undefined;
  }

  /** Including an expired one. */
  last(subject: string, accountId: string): BackOff | undefined {
    return this.subjects.get(subject)?.get(accountId);
  }

  /** Whether another account backs off from it too. */
  isShared(subject: string, accountId: string, nowMs: number): boolean {
    for (const [other, { untilMs }] of this.subjects.get(subject) ?? [])
      if (other !== accountId && nowMs < untilMs) return true;
    return false;
  }

  set(subject: string, accountId: string, backOff: BackOff): void {
    this.delete(subject, accountId);
    if (this.size >= MAX_BACK_OFFS) this.deleteOne();
    const accounts = this.subjects.get(subject) ?? new Map<string, BackOff>();
    this.subjects.set(subject, accounts.set(accountId, backOff));
    this.size += 1;
  }

  /** @returns whether there was one */
  delete(subject: string, accountId: string): boolean {
    const accounts = this.subjects.get(subject);
    if (accounts?.delete(accountId) !== true) return false;
    this.size -= 1;
    if (accounts.size === 0) this.subjects.delete(subject);
    return true;
  }

  deleteAllOf(subject: string): void {
    this.size -= this.subjects.get(subject)?.size ?? 0;
    this.subjects.delete(subject);
  }

  private deleteOne(): void {
    const [subject] = this.subjects.keys();
    const [accountId] = this.subjects.get(subject ?? '')?.keys() ?? [];
    if (subject !== undefined && accountId !== undefined) this.delete(subject, accountId);
  }
}

type ChannelAddress = Pick<Channel, 'id' | 'protocol' | 'baseUrl' | 'auth' | 'query' | 'headers'>;

const DIGEST_LENGTH = 12;
/** A changed channel is a new object. */
const subjects = new WeakMap<ChannelAddress, string>();

/**
 * Identifies a channel's health state in all processes. Changing its address or headers starts over, since the problem
 * was there.
 */
export function subjectOf(channel: ChannelAddress): string {
  const known = subjects.get(channel);
  if (known !== undefined) return known;
  const { id, protocol, baseUrl, auth, query, headers } = channel;
  const address = JSON.stringify([protocol, baseUrl, auth, query, headers]);
  const digest = createHash('sha256').update(address).digest('hex').slice(0, DIGEST_LENGTH);
  const subject = `${id} ${digest}`;
  subjects.set(channel, subject);
  return subject;
}

/** The same for a credential; `-` for channels without one. */
export const credentialSubjectOf = (channel: ChannelAddress, credential: ChannelCredential | undefined): string =>
  `${subjectOf(channel)} ${credential?.id ?? '-'}`;
