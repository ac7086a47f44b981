import type { HealthLimits } from './health-limits.js';

const SLOTS = 12;

type Limits = Pick<HealthLimits, 'windowMs' | 'leastOutcomes' | 'failingShare'>;

/**
 * How the calls of a channel ended lately: counts in slots of a twelfth of the window, so that it takes the same small
 * room however many they are. An outcome is forgotten at the latest when the window has passed, and at the earliest a
 * slot before.
 */
export class OutcomeWindow {
  private readonly outcomes = new Uint32Array(SLOTS);
  private readonly failures = new Uint32Array(SLOTS);
  /** The number of the newest slot since 1970. */
  private newest = 0;

  constructor(private readonly limits: Limits) {}

  add(isFailure: boolean, nowMs: number): void {
    this.forget(nowMs);
    const slot = this.newest % SLOTS;
    this.outcomes[slot] = (this.outcomes[slot] ?? 0) + 1;
    if (isFailure) this.failures[slot] = (this.failures[slot] ?? 0) + 1;
  }

  /** How many outcomes there were, and how many of them were failures. */
  count(nowMs: number): { readonly outcomes: number; readonly failures: number } {
    this.forget(nowMs);
    return { outcomes: sum(this.outcomes), failures: sum(this.failures) };
  }

  isFailing(nowMs: number): boolean {
    const { outcomes, failures } = this.count(nowMs);
    return outcomes >= this.limits.leastOutcomes && failures >= outcomes * this.limits.failingShare;
  }

  private forget(nowMs: number): void {
    const now = Math.floor((nowMs * SLOTS) / this.limits.windowMs);
    // The clock may be set back: what was counted stays where it is.
    const passed = Math.min(now - this.newest, SLOTS);
    for (let step = 1; step <= passed; step += 1) {
      const slot = (now - step + 1) % SLOTS;
      this.outcomes[slot] = 0;
      this.failures[slot] = 0;
    }
    if (passed > 0) this.newest = now;
  }
}

const sum = (counts: Uint32Array): number => counts.reduce((total, count) => total + count, 0);
