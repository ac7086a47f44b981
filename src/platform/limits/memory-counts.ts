import type { Clock } from '../shared/index.js';
import type { Counts, Decision, Place, Refusal, Return, Taking } from './counts.js';
import { SlidingWindow } from './sliding-window.js';

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
