import type { TokenUsage } from '../call/index.js';

/**
 * The output of a call as far as it can be known while it runs, in tokens: what the upstream has reported, what was
 * counted in passing since, and, of a model that reasons out of sight, what it has probably thought.
 */
export class OutputCount {
  private reported = 0;
  private counted = 0;
  private thought = 0;
  /** Since when nothing is known of a model that has begun; undefined when it has not, or need not be guessed at. */
  private silentSinceMs: number | undefined;

  /**
   * @param hiddenPerSecond what a model produces that shows nothing of it; 0 for one that shows everything
   * @param mostHidden nor can it have thought more than the call may say in all
   */
  constructor(
    private readonly hiddenPerSecond: number,
    private readonly mostHidden: number,
  ) {}

  /** Another upstream is asked, and nothing of the one before is the client's. */
  restart(): void {
    this.reported = this.counted = this.thought = 0;
    this.silentSinceMs = undefined;
  }

  /** The upstream has answered its headers and shows nothing yet. */
  begin(nowMs: number): void {
    if (this.hiddenPerSecond > 0) this.silentSinceMs = nowMs;
  }

  /** Content: from here on everything is counted as it comes. */
  show(nowMs: number): void {
    this.thought = this.hidden(nowMs);
    this.silentSinceMs = undefined;
  }

  count(units: number): void {
    this.counted += units;
  }

  /** A report covers everything before it. One that knows of no output yet says nothing. */
  report({ output }: TokenUsage, nowMs: number): void {
    if (output === 0) return;
    this.reported = output;
    this.counted = 0;
    this.thought = 0;
    if (this.silentSinceMs !== undefined) this.silentSinceMs = nowMs;
  }

  total(nowMs: () => number): number {
    const hidden = this.silentSinceMs === undefined ? this.thought : this.hidden(nowMs());
    return this.reported + this.counted + hidden;
  }

  private hidden(nowMs: number): number {
    if (this.silentSinceMs === undefined) return this.thought;
    const seconds = (nowMs - this.silentSinceMs) / 1000;
    return Math.min(this.mostHidden, Math.floor(seconds * this.hiddenPerSecond));
  }
}
