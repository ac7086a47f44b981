const MINUTE_MS = 60_000;
/** Maximum keys tracked per minute; further keys share one count. */
const MAX_KEYS = 10_000;
const OTHERS = 'others';

/** Lines suppressed for a key within a minute. */
export interface SuppressedLines {
  readonly key: string;
  readonly count: number;
  readonly suppressed: number;
}

/**
 * Rate-limits log lines for unauthenticated traffic: N lines per key and minute, then a count of the suppressed ones. A
 * log line costs more than the rejected request.
 */
export class LogRateLimiter {
  private readonly counts = new Map<string, number>();
  private minute: NodeJS.Timeout | undefined;

  /**
   * @param maxLines maximum lines per key and minute
   * @param report called at the end of the minute for each key that exceeded it
   */
  constructor(
    private readonly maxLines: number,
    private readonly report: (suppressed: SuppressedLines) => void,
  ) {}

  /** Counts an event and returns whether to log it. */
  admit(key: string): boolean {
    const counted = this.counts.has(key) || this.counts.size < MAX_KEYS ? key : OTHERS;
    const count = (this.counts.get(counted) ?? 0) + 1;
    this.counts.set(counted, count);
    this.minute ??= setTimeout(() => this.end(), MINUTE_MS).unref();
    return count <= this.maxLines;
  }

  /** Reports suppressed lines and ends the minute. Called by the timer and at shutdown. */
  end(): void {
    for (const [key, count] of this.counts)
      if (count > this.maxLines) this.report({ key, count, suppressed: count - this.maxLines });
    this.counts.clear();
    clearTimeout(this.minute);
    this.minute = undefined;
  }
}
