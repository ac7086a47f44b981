import type { Clock } from '../shared/index.js';
import type { Counts, Decision, Place, Refusal, Return, Taking } from './counts.js';

/** Bounds memory against clients with many addresses; about 200 bytes each. */
const MAX_WINDOWS = 100_000;
/** Oldest counts checked for expiry per new count. */
const LOOKED_AT = 2;
/** Suggested wait for a full concurrency limit: the end of a call is unknown. */
export const PLACE_WAIT_MS = 1000;

/** The counts of one process, or of several that ask it. Every decision takes the same time, however much was counted. */
export class MemoryCounts implements Counts {
  /** Those that were looked at longest ago come first. */
  private readonly windows = new Map<string, SlidingWindow>();
  /** How many places are taken, where any are. */
  private readonly taken = new Map<string, number>();
  /** The places of each taking that has any. */
  private readonly takings = new Map<string, readonly Place[]>();

  constructor(
    private readonly clock: Clock,
    private readonly maxWindows = MAX_WINDOWS,
  ) {}

  take(taking: Taking): Promise<Decision> {
    return Promise.resolve(this.decide(taking));
  }

  decide(taking: Taking): Decision {
    const { id, counts, places } = taking;
    const before = this.windows.size;
    const windows = counts.map(({ key, windowMs }) => this.windowOf(key, windowMs));
    const refusal = this.refusalOf(taking, windows);
    if (refusal === undefined) {
      counts.forEach(({ amount }, index) => windows[index]?.add(amount));
      for (const { key } of places) this.taken.set(key, (this.taken.get(key) ?? 0) + 1);
      if (places.length > 0) this.takings.set(id, places);
    }
    const standings = windows.map((window) => window.standing());
    // Not before: what has just been made counts nothing yet.
    this.forgetOld(LOOKED_AT * (this.windows.size - before));
    return { refusal, standings };
  }

  giveBack({ id, corrections }: Return): void {
    for (const { key } of this.takings.get(id) ?? []) {
      const left = (this.taken.get(key) ?? 1) - 1;
      if (left > 0) this.taken.set(key, left);
      else this.taken.delete(key);
    }
    this.takings.delete(id);
    for (const { key, windowMs, window, amount } of corrections) this.windowOf(key, windowMs).correct(amount, window);
  }

  /** How much is remembered. */
  get size(): { readonly windows: number; readonly places: number } {
    return { windows: this.windows.size, places: this.takings.size };
  }

  private refusalOf({ counts, places }: Taking, windows: readonly SlidingWindow[]): Refusal | undefined {
    let longest: Refusal | undefined;
    const note = (which: number, waitMs: number | undefined): void => {
      if (waitMs === 0) return;
      if (longest === undefined || (longest.waitMs ?? Infinity) < (waitMs ?? Infinity)) longest = { which, waitMs };
    };
    counts.forEach(({ amount, limit }, index) => note(index, windows[index]?.waitMs(amount, limit)));
    places.forEach(({ key, limit }, index) => {
      if (limit === 0) note(counts.length + index, undefined);
      else if ((this.taken.get(key) ?? 0) >= limit) note(counts.length + index, PLACE_WAIT_MS);
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

  private forgetOld(looks: number): void {
    const oldest = this.windows.entries();
    for (let looked = 0; looked < looks; looked += 1) {
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
 * Counts what happened in the last window of time by two numbers: what came since the clock's current window began, and
 * in the one before, of which as much counts as still lies within the last `windowMs`, taken as spread evenly.
 *
 * What it guarantees of a limit: never more in one window of the clock; whoever goes on asking gets the limit, no more,
 * of each window; and no stretch of `windowMs`, wherever it begins, holds more than twice the limit (that much only after
 * a burst at the end of an idle window). Corrections upwards may exceed it: what was used was used.
 */
export class SlidingWindow {
  private window = 0;
  private current = 0;
  private previous = 0;
  /** How far the current window has gone. */
  private goneMs = 0;

  constructor(private readonly windowMs: number) {}

  /** To be told before anything else is asked. A clock that was set back stands still here until it has caught up. */
  moveTo(nowMs: number): void {
    const window = Math.floor(nowMs / this.windowMs);
    if (window > this.window) {
      this.previous = window === this.window + 1 ? this.current : 0;
      this.current = 0;
      this.window = window;
    }
    this.goneMs = Math.max(0, nowMs - this.window * this.windowMs);
  }

  /** Until so much more fits below the limit: 0 at once, undefined never. */
  waitMs(amount: number, limit: number): number | undefined {
    const { windowMs, goneMs, current, previous } = this;
    const room = limit - amount;
    if (room < 0) return undefined;
    if (previous * (windowMs - goneMs) <= (room - current) * windowMs) return 0;
    // The one before fades out of sight; where that is not enough, the current one has to, after its end.
    if (current <= room) return Math.ceil((windowMs * (previous + current - room)) / previous) - goneMs;
    return windowMs - goneMs + Math.ceil((windowMs * (current - room)) / current);
  }

  add(amount: number): void {
    this.current += amount;
  }

  /** @param window as `standing` said it then */
  correct(amount: number, window: number): void {
    if (amount > 0) this.current += amount;
    else if (window === this.window) this.current = Math.max(0, this.current + amount);
    else if (window === this.window - 1) this.previous = Math.max(0, this.previous + amount);
  }

  standing(): { readonly used: number; readonly resetMs: number; readonly window: number } {
    const { windowMs, goneMs, current, previous, window } = this;
    const used = Math.ceil(current + (previous * (windowMs - goneMs)) / windowMs);
    const windowsLeft = current > 0 ? 2 : Number(previous > 0);
    return { used, resetMs: Math.max(0, windowsLeft * windowMs - goneMs), window };
  }

  /** Whether nothing of it counts any more. */
  get isEmpty(): boolean {
    return this.current === 0 && this.previous === 0;
  }
}
