import type { Clock } from '../shared/index.js';
import type { Counts, Decision, ConcurrencySlot, Refusal, Release, Acquisition } from './counts.js';

/** Bounds memory against clients with many addresses; about 200 bytes each. */
const MAX_WINDOWS = 100_000;
/** Oldest counts checked for expiry per new count. */
const CHECKED_PER_COUNT = 2;
/** Suggested wait for a full concurrency limit: the end of a call is unknown. */
export const SLOT_WAIT_MS = 1000;

/** The counts of one process and of the workers that ask it. Decisions take constant time. */
export class MemoryCounts implements Counts {
  /** Least recently checked first. */
  private readonly windows = new Map<string, SlidingWindow>();
  /** Slots taken, by key; absent for 0. */
  private readonly taken = new Map<string, number>();
  /** Slots by ID of the acquisition. */
  private readonly acquisitions = new Map<string, readonly ConcurrencySlot[]>();

  constructor(
    private readonly clock: Clock,
    private readonly maxWindows = MAX_WINDOWS,
  ) {}

  acquire(acquisition: Acquisition): Promise<Decision> {
    return Promise.resolve(this.decide(acquisition));
  }

  decide(acquisition: Acquisition): Decision {
    const { id, counts, slots } = acquisition;
    const before = this.windows.size;
    const windows = counts.map(({ key, windowMs }) => this.windowOf(key, windowMs));
    const refusal = this.refusalOf(acquisition, windows);
    if (refusal === undefined) {
      counts.forEach(({ amount }, index) => windows[index]?.add(amount));
      for (const { key } of slots) this.taken.set(key, (this.taken.get(key) ?? 0) + 1);
      if (slots.length > 0) this.acquisitions.set(id, slots);
    }
    const statuses = windows.map((window) => window.status());
    // Only now: a new window is still empty.
    this.forgetOld(CHECKED_PER_COUNT * (this.windows.size - before));
    return { refusal, statuses };
  }

  release({ id, corrections }: Release): void {
    for (const { key } of this.acquisitions.get(id) ?? []) {
      const left = (this.taken.get(key) ?? 1) - 1;
      if (left > 0) this.taken.set(key, left);
      else this.taken.delete(key);
    }
    this.acquisitions.delete(id);
    for (const { key, windowMs, window, amount } of corrections) this.windowOf(key, windowMs).correct(amount, window);
  }

  /** Number of remembered windows and slots. */
  get size(): { readonly windows: number; readonly slots: number } {
    return { windows: this.windows.size, slots: this.acquisitions.size };
  }

  private refusalOf({ counts, slots }: Acquisition, windows: readonly SlidingWindow[]): Refusal | undefined {
    let longest: Refusal | undefined;
    const note = (which: number, waitMs: number | undefined): void => {
      if (waitMs === 0) return;
      if (longest === undefined || (longest.waitMs ?? Infinity) < (waitMs ?? Infinity)) longest = { which, waitMs };
    };
    counts.forEach(({ amount, limit }, index) => note(index, windows[index]?.waitMs(amount, limit)));
    slots.forEach(({ key, limit }, index) => {
      if (limit === 0) note(counts.length + index, undefined);
      else if ((this.taken.get(key) ?? 0) >= limit) note(counts.length + index, SLOT_WAIT_MS);
    });
    return longest;
  }

  private windowOf(key: string, windowMs: number): SlidingWindow {
    let window = this.windows.get(key);
    if (window === undefined) {
      window = new SlidingWindow(windowMs);
      this.windows.set(key, window);
    }
    window.moveTo(this.clock.now());
    return window;
  }

  private forgetOld(checks: number): void {
    const oldest = this.windows.entries();
    for (let checked = 0; checked < checks; checked += 1) {
      const { value } = oldest.next();
      if (value === undefined) return;
      const [key, window] = value;
      window.moveTo(this.clock.now());
      this.windows.delete(key);
      if (!window.isEmpty && this.windows.size < this.maxWindows) this.windows.set(key, window);
    }
  }
}

/**
 * A sliding window approximated by two counters: the current fixed window, and the share of the previous one that is
 * still within `windowMs`, assuming even distribution. Guarantees: at most the limit per fixed window, and at most
 * twice the limit in any interval of `windowMs` (only for a burst at the end of an idle window). Upward corrections may
 * exceed the limit.
 */
export class SlidingWindow {
  private window = 0;
  private current = 0;
  private previous = 0;
  /** Elapsed time of the current window. */
  private goneMs = 0;

  constructor(private readonly windowMs: number) {}

  /** Call before anything else. If the clock was set back, time stands still until it has caught up. */
  moveTo(nowMs: number): void {
    const window = Math.floor(nowMs / this.windowMs);
    if (window > this.window) {
      this.previous = window === this.window + 1 ? this.current : 0;
      this.current = 0;
      this.window = window;
    }
    this.goneMs = Math.max(0, nowMs - this.window * this.windowMs);
  }

  /** Time until `amount` fits below the limit: 0 now, undefined never. */
  waitMs(amount: number, limit: number): number | undefined {
    const { windowMs, goneMs, current, previous } = this;
    const room = limit - amount;
    if (room < 0) return undefined;
    if (previous * (windowMs - goneMs) <= (room - current) * windowMs) return 0;
    // The previous window fades out; if that is not enough, the current one has to fade after its end.
    if (current <= room) return Math.ceil((windowMs * (previous + current - room)) / previous) - goneMs;
    return windowMs - goneMs + Math.ceil((windowMs * (current - room)) / current);
  }

  add(amount: number): void {
    this.current += amount;
  }

  /** @param window as returned by `status` */
  correct(amount: number, window: number): void {
    if (amount > 0) this.current += amount;
    else if (window === this.window) this.current = Math.max(0, this.current + amount);
    else if (window === this.window - 1) this.previous = Math.max(0, this.previous + amount);
  }

  status(): { readonly used: number; readonly resetMs: number; readonly window: number } {
    const { windowMs, goneMs, current, previous, window } = this;
    const used = Math.ceil(current + (previous * (windowMs - goneMs)) / windowMs);
    const windowsLeft = current > 0 ? 2 : Number(previous > 0);
    return { used, resetMs: Math.max(0, windowsLeft * windowMs - goneMs), window };
  }

  /** True when nothing is counted any more. */
  get isEmpty(): boolean {
    return this.current === 0 && this.previous === 0;
  }
}
