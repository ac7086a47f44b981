const MINUTE_MS = 60_000;
/** The keys that are told apart in a minute; those that come later are counted as one. */
const MAX_KEYS = 10_000;
const OTHERS = 'others';

/** What came up more often in a minute than it had lines. */
export interface LeftOut {
  readonly key: string;
  readonly count: number;
  readonly leftOut: number;
}

/**
 * Keeps what strangers can cause without end from filling the log, where a line is dearer than the refusal that it tells
 * of: in a minute so many of a key have a line of their own, and of the others the number is told.
 */
export class LimitedLines {
  private readonly counts = new Map<string, number>();
  private minute: NodeJS.Timeout | undefined;

  /**
   * @param most lines of one key in a minute
   * @param tell is given each key that had more, when its minute is over
   */
  constructor(
    private readonly most: number,
    private readonly tell: (leftOut: LeftOut) => void,
  ) {}

  /** Counts one more, and says whether it has a line of its own. */
  admit(key: string): boolean {
    const counted = this.counts.has(key) || this.counts.size < MAX_KEYS ? key : OTHERS;
    const count = (this.counts.get(counted) ?? 0) + 1;
    this.counts.set(counted, count);
    this.minute ??= setTimeout(() => this.end(), MINUTE_MS).unref();
    return count <= this.most;
  }

  /** Tells what was left out, and ends the minute: its timer does so, and whoever stops. */
  end(): void {
    for (const [key, count] of this.counts)
      if (count > this.most) this.tell({ key, count, leftOut: count - this.most });
    this.counts.clear();
    clearTimeout(this.minute);
    this.minute = undefined;
  }
}
