const MINUTE_MS = 60_000;
/** Maximum keys tracked per minute; further keys share one count. */
const MAX_KEYS = 10_000;
const OTHERS = 'others';

/** Lines suppressed for a key within a minute. */
export interface LeftOut {
  readonly key: string;
  readonly count: number;
  readonly leftOut: number;
}

/**
 * Rate-limits log lines for unauthenticated traffic: N lines per key and minute, then a count of the suppressed ones. A
 * log line costs more than the rejected request.
 */
export class LimitedLines {
  private readonly counts = new Map<string, number>();
  private minute: NodeJS.Timeout | undefined;

  /**
   * @param most maximum lines per key and minute
   * @param tell called at the end of the minute for each key that exceeded it
   */
  constructor(
    private readonly most: number,
    private readonly tell: (leftOut: LeftOut) => void,
  ) {}

  /** Counts an event and returns whether to log it. */
  admit(key: string): boolean {
    const counted = this.counts.has(key) || this.counts.size < MAX_KEYS ? key : OTHERS;
    const count = (this.counts.get(counted) ?? 0) + 1;
    this.counts.set(counted, count);
    this.minute ??= setTimeout(() => this.end(), MINUTE_MS).unref();
    return count <= this.most;
  }

  /** Reports suppressed lines and ends the minute. Called by the timer and at shutdown. */
  end(): void {
    for (const [key, count] of this.counts)
      if (count > this.most) this.tell({ key, count, leftOut: count - this.most });
    this.counts.clear();
    clearTimeout(this.minute);
    this.minute = undefined;
  }
}
