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
