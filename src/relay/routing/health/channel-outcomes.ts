import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import { AppError, Clock } from '../../../platform/shared/index.js';

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

const SLOTS = 12;

/** Per channel; beyond it the oldest account is dropped. */
const MAX_ACCOUNTS = 1000;
/** Two accounts may belong to one person, or fail by coincidence. */
const MIN_FAILING_ACCOUNTS = 3;

type OutcomeLimits = Pick<HealthLimits, 'windowMs' | 'minOutcomes' | 'minFailureShare'>;

/**
 * Recent outcomes of one account's calls on a channel, counted in 12 slots per window, so that memory does not grow with
 * the number of calls. An outcome is dropped at most one slot before the window has passed.
 */
export class OutcomeWindow {
  private readonly outcomes = new Uint32Array(SLOTS);
  private readonly failures = new Uint32Array(SLOTS);
  /** Number of the newest slot since 1970. */
  private newest = 0;

  constructor(private readonly limits: OutcomeLimits) {}

  add(isFailure: boolean, nowMs: number): void {
    this.forget(nowMs);
    const slot = this.newest % SLOTS;
    this.outcomes[slot] = (this.outcomes[slot] ?? 0) + 1;
    if (isFailure) this.failures[slot] = (this.failures[slot] ?? 0) + 1;
  }

  /** Outcomes, and failures among them. */
  count(nowMs: number): { readonly outcomes: number; readonly failures: number } {
    this.forget(nowMs);
    return { outcomes: sum(this.outcomes), failures: sum(this.failures) };
  }

  isFailing(nowMs: number): boolean {
    const { outcomes, failures } = this.count(nowMs);
    return outcomes >= this.limits.minOutcomes && failures >= outcomes * this.limits.minFailureShare;
  }

  private forget(nowMs: number): void {
    const now = Math.floor((nowMs * SLOTS) / this.limits.windowMs);
    // If the clock is set back, counted outcomes stay.
    const passed = Math.min(now - this.newest, SLOTS);
    for (let step = 1; step <= passed; step += 1) {
      const slot = (now - step + 1) % SLOTS;
      this.outcomes[slot] = 0;
      this.failures[slot] = 0;
    }
    if (passed > 0) this.newest = now;
  }
}

/**
 * Recent outcomes of a channel's calls, by account. Each account has one vote on whether the channel fails, so that none
 * decides alone, however many failures it causes.
 */
export class ChannelOutcomes {
  private readonly accounts = new Map<string, OutcomeWindow>();

  constructor(private readonly limits: OutcomeLimits) {}

  add(accountId: string, isFailure: boolean, nowMs: number): void {
    this.windowOf(accountId).add(isFailure, nowMs);
  }

  /** Resets the account. */
  forget(accountId: string): void {
    this.accounts.delete(accountId);
  }

  count(accountId: string, nowMs: number): { readonly outcomes: number; readonly failures: number } {
    return this.windowOf(accountId).count(nowMs);
  }

  /** Whether enough of this account's calls fail. */
  isFailingFor(accountId: string, nowMs: number): boolean {
    return this.windowOf(accountId).isFailing(nowMs);
  }

  /** Whether it fails for several accounts, and for `minFailureShare` of all that called it. */
  isFailingForMany(nowMs: number): boolean {
    const { minOutcomes, minFailureShare } = this.limits;
    if (this.accounts.size < MIN_FAILING_ACCOUNTS) return false;
    let total = 0;
    let callers = 0;
    let failing = 0;
    for (const window of this.accounts.values()) {
      const { outcomes, failures } = window.count(nowMs);
      if (outcomes === 0) continue;
      total += outcomes;
      callers += 1;
      if (failures >= outcomes * minFailureShare) failing += 1;
    }
    return total >= minOutcomes && failing >= MIN_FAILING_ACCOUNTS && failing >= callers * minFailureShare;
  }

  /** Whether another account's calls succeeded recently. */
  isServingOthers(accountId: string, nowMs: number): boolean {
    for (const [other, window] of this.accounts) {
      if (other === accountId) continue;
      const { outcomes, failures } = window.count(nowMs);
      if (failures < outcomes) return true;
    }
    return false;
  }

  private windowOf(accountId: string): OutcomeWindow {
    let window = this.accounts.get(accountId);
    if (window === undefined) {
      const [first] = this.accounts.keys();
      if (first !== undefined && this.accounts.size >= MAX_ACCOUNTS) this.accounts.delete(first);
      this.accounts.set(accountId, (window = new OutcomeWindow(this.limits)));
    }
    return window;
  }
}

const sum = (counts: Uint32Array): number => counts.reduce((total, count) => total + count, 0);

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
  readonly refusedMs: number = 5 * MINUTE_MS;
  /** Max cooldown of a rate-limited credential, whatever the upstream requests. */
  readonly maxRateLimitMs: number = 24 * 60 * MINUTE_MS;
  /** No further check call is sent with a credential for this long after one succeeded. */
  readonly checkAgainMs: number = 10_000;
  /** After a pause one call probes; if it has shown nothing after this time, another one may. */
  readonly probeMs: number = 30_000;
}

/** Target of a check call. */
export interface CheckTarget {
  readonly channel: Channel;
  readonly credential: ChannelCredential | undefined;
  /** Upstream name of the model. */
  readonly model: string;
}

/** Sends the smallest possible call. Resolves with its error, or undefined on success; never rejects. */
type SendCheckCall = (target: CheckTarget) => Promise<AppError | undefined>;

const NOT_SENT = new AppError('unavailable', 'This process cannot send check calls.');
/** Beyond this all successes are dropped. */
const MAX_SUCCESSES = 1000;

/**
 * The relay's own minimal calls: evidence that no client can influence of whether a channel or credential fails for
 * everyone. One at a time per credential, and none within `checkAgainMs` of a success.
 */
@Injectable()
export class CheckCalls {
  /** Set by the relay, which has the protocols. */
  send: SendCheckCall = () => Promise.resolve(NOT_SENT);
  /** By credential subject. */
  private readonly running = new Map<string, Promise<AppError | undefined>>();
  /** Time of the last success, by this process's clock. */
  private readonly succeededMs = new Map<string, number>();

  constructor(
    private readonly limits: HealthLimits,
    private readonly clock: Clock,
  ) {}

  /** The error; undefined if a check call succeeds now or did within `checkAgainMs`. */
  async outcome(target: CheckTarget): Promise<AppError | undefined> {
    const subject = credentialSubjectOf(target.channel, target.credential);
    const succeededMs = this.succeededMs.get(subject);
    if (succeededMs !== undefined && this.clock.now() - succeededMs < this.limits.checkAgainMs) return undefined;
    return this.running.get(subject) ?? this.begin(subject, target);
  }

  private async begin(subject: string, target: CheckTarget): Promise<AppError | undefined> {
    const sending = this.send(target);
    this.running.set(subject, sending);
    const failure = await sending;
    this.running.delete(subject);
    if (failure !== undefined) return failure;
    if (this.succeededMs.size >= MAX_SUCCESSES) this.succeededMs.clear();
    this.succeededMs.set(subject, this.clock.now());
    return undefined;
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

/** The same for a credential; undefined for channels without one. */
export const credentialSubjectOf = (channel: ChannelAddress, credential: ChannelCredential | undefined): string =>
  `${subjectOf(channel)} ${credential?.id ?? '-'}`;
