import type { HealthLimits } from './cooldown.js';

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
