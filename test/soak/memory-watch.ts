/** How the memory of the program went, since it was started last. */

const EVERY_MS = 2000;
const MIB = 1024 * 1024;
/** The level is taken after so long, or in the middle of what is less. */
const SETTLED_MS = 5 * 60_000;
/** A level is the median of so long. */
const LEVEL_MS = 20_000;

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

export interface MemoryReport {
  readonly settledMiB: number;
  readonly endMiB: number;
  readonly growthPercent: number;
  readonly slopeMiBPerMinute: number;
  readonly watchedMinutes: number;
}

export class MemoryWatch {
  private samples: Sample[] = [];
  private readonly timer: NodeJS.Timeout;

  /** @param memory in bytes; undefined while there is nothing to look at */
  constructor(memory: () => number | undefined) {
    this.timer = setInterval(() => {
      const bytes = memory();
      // Another program: it begins again.
      if (bytes === undefined) this.samples = [];
      else this.samples.push({ atMs: performance.now(), bytes });
    }, EVERY_MS);
  }

  stop(): MemoryReport {
    clearInterval(this.timer);
    const [fromMs, untilMs] = [this.samples[0]?.atMs ?? 0, this.samples.at(-1)?.atMs ?? 0];
    const settledMs = fromMs + Math.min(SETTLED_MS, (untilMs - fromMs) / 2);
    const [settled, end] = [this.level(settledMs), this.level(untilMs)];
    return {
      settledMiB: settled / MIB,
      endMiB: end / MIB,
      growthPercent: (end / settled - 1) * 100,
      slopeMiBPerMinute: (slope(this.samples.filter(({ atMs }) => atMs >= settledMs)) / MIB) * 60_000,
      watchedMinutes: (untilMs - fromMs) / 60_000,
    };
  }

  /** Around that moment. */
  private level(atMs: number): number {
    const near = this.samples.filter((sample) => Math.abs(sample.atMs - atMs) <= LEVEL_MS).map(({ bytes }) => bytes);
    return near.toSorted((one, other) => one - other)[Math.floor(near.length / 2)] ?? 0;
  }
}

/** By least squares, in bytes a millisecond. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [middleMs, middle] = [mean(({ atMs }) => atMs), mean(({ bytes }) => bytes)];
  const spread = samples.reduce((sum, { atMs }) => sum + (atMs - middleMs) ** 2, 0);
  const together = samples.reduce((sum, { atMs, bytes }) => sum + (atMs - middleMs) * (bytes - middle), 0);
  return spread === 0 ? 0 : together / spread;
}
