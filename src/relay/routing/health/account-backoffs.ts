import type { CooldownReason } from './cooldown.js';

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
