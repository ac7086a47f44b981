// One clock for any number of paced streams: each is due every PACE_MS, counted from its own start.
import { PACE_MS } from '../work/behaviours.ts';

/**
 * A wheel with one slot for each millisecond of the pace. One timer turns it, so that a thousand streams cost no thousand
 * timers; slots that the process was late for are done at once.
 */
export class Pacer {
  private readonly slots = Array.from({ length: PACE_MS }, () => new Set<(time: number) => void>());
  private streams = 0;
  private turning = false;
  /** The last millisecond that was done. */
  private done = 0;

  /** Calls back every PACE_MS until the returned function is called. */
  add(tick: () => void): () => void {
    const since = now();
    const entry = (time: number): void => {
      if (time > since) tick();
    };
    const slot = this.slots[since % PACE_MS];
    slot?.add(entry);
    this.streams++;
    this.start();
    return () => {
      if (slot?.delete(entry)) this.streams--;
    };
  }

  private start(): void {
    if (this.turning) return;
    this.turning = true;
    this.done = now();
    setTimeout(this.turn, 1);
  }

  private readonly turn = (): void => {
    const until = now();
    while (this.done < until) {
      this.done++;
      for (const entry of this.slots[this.done % PACE_MS] ?? []) entry(this.done);
    }
    this.turning = this.streams > 0;
    if (this.turning) setTimeout(this.turn, 1);
  };
}

const now = (): number => Math.floor(performance.now());
