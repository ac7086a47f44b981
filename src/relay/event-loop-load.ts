/** Judged again so often: a call that waits for less is nobody's concern. */
const WINDOW_MS = 500;
/** One long turn may be a freeze of the machine, and is over when it is seen; two in a row are not chance. */
const HIGH_WINDOWS = 2;

/**
 * Whether the event loop has more to do than it gets done: by how late its timers come, over about a second. Slow, until
 * the delay has fallen to half of what makes it so.
 */
export class EventLoopLoad {
  private isSlow = false;
  private elapsedMs = 0;
  /** Of each turn its delay times its length: what most moments lay in counts, not what most turns were. */
  private weighted = 0;
  private highWindows = 0;

  constructor(private readonly limitMs: number) {}

  get slow(): boolean {
    return this.isSlow;
  }

  /** @param sinceMs since the last time @param lateMs so much of it was too much */
  note(sinceMs: number, lateMs: number): void {
    this.elapsedMs += sinceMs;
    this.weighted += sinceMs * lateMs;
    if (this.elapsedMs < WINDOW_MS) return;
    this.judge(this.weighted / this.elapsedMs);
    this.elapsedMs = 0;
    this.weighted = 0;
  }

  private judge(delayMs: number): void {
    this.highWindows = delayMs > this.limitMs ? this.highWindows + 1 : 0;
    if (this.highWindows >= HIGH_WINDOWS) this.isSlow = true;
    else if (delayMs < this.limitMs / 2) this.isSlow = false;
  }
}
