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
