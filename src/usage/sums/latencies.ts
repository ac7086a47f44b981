/** How long finished calls took. Undefined: no call tells, as of sums that are older than their histograms. */
export interface Latency {
  /** Of streams that came to one. */
  readonly firstToken: Percentiles | undefined;
  readonly duration: Percentiles | undefined;
}

/** Of calls in bars of a chart. */
export interface Latencies {
  readonly total: Latency;
  /** By the time that a bar begins at, in ms. */
  readonly bars: ReadonlyMap<number, Latency>;
}

/** What they are read from, of `partsSql`. */
export const HISTOGRAMS = ['first_tokens', 'durations'] as const;

/** Of one bar. */
export type HistogramRow = Readonly<Record<(typeof HISTOGRAMS)[number], string | null>> & { readonly start: Date };

export function latencies(rows: readonly HistogramRow[]): Latencies {
  const read = rows.map(({ start, first_tokens, durations }) => ({
    start,
    firstTokens: histogramOf(first_tokens),
    durations: histogramOf(durations),
  }));
  return {
    total: latencyOf(
      read.reduce((sum, { firstTokens }) => addHistograms(sum, firstTokens), NOTHING),
      read.reduce((sum, { durations }) => addHistograms(sum, durations), NOTHING),
    ),
    bars: new Map(
      read.map(({ start, firstTokens, durations }) => [start.getTime(), latencyOf(firstTokens, durations)]),
    ),
  };
}

const NOTHING: Histogram = [];

const latencyOf = (firstTokens: Histogram, durations: Histogram): Latency => ({
  firstToken: percentilesOf(firstTokens),
  duration: percentilesOf(durations),
});

/**
 * How long calls took, counted in buckets: each doubling from 1 ms on has ten of equal width, so that none is wider than a
 * tenth of where it begins, and its middle is no further than a twentieth from any time in it. Below 16 ms every
 * millisecond has its own. `latency_bucket` in the database is the same.
 */
const PER_DOUBLING = 10;
/** The last bucket ends here; longer times are counted in it. */
const MAX_MS = 2 ** 22 - 1;
/** A histogram is one number to the database, with so many decimal digits for each bucket. */
const DIGITS = 12;

/** How many calls are in each bucket, from 0 on. */
type Histogram = readonly number[];

/** In milliseconds. */
export interface Percentiles {
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** @param ms whole milliseconds; none counts as one */
export function bucketOf(ms: number): number {
  const held = Math.min(Math.max(ms, 1), MAX_MS);
  const doubling = 31 - Math.clz32(held);
  return PER_DOUBLING * (doubling - 1) + ((PER_DOUBLING * held) >> doubling);
}

/** The first and the last millisecond that are counted in a bucket. */
export function boundsOf(bucket: number): readonly [firstMs: number, lastMs: number] {
  const beginning = (place: number): number => {
    const doubling = Math.floor(place / PER_DOUBLING);
    return Math.ceil((2 ** doubling * (PER_DOUBLING + (place % PER_DOUBLING))) / PER_DOUBLING);
  };
  return [beginning(bucket), beginning(bucket + 1) - 1];
}

/** @param number as the database writes it; null: of no call */
export function histogramOf(number: string | null): Histogram {
  const digits = number ?? '';
  return Array.from({ length: Math.ceil(digits.length / DIGITS) }, (_, bucket) => {
    const end = digits.length - bucket * DIGITS;
    return Number(digits.slice(Math.max(end - DIGITS, 0), end));
  });
}

export const addHistograms = (one: Histogram, other: Histogram): Histogram =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, bucket) => (one[bucket] ?? 0) + (other[bucket] ?? 0));

/** Undefined: there is no call in it. */
export function percentilesOf(histogram: Histogram): Percentiles | undefined {
  const [medianMs, p95Ms] = [percentile(histogram, 50), percentile(histogram, 95)];
  return medianMs === undefined || p95Ms === undefined ? undefined : { medianMs, p95Ms };
}

/** The middle of the bucket that the call is in which so many of a hundred are not slower than. */
function percentile(histogram: Histogram, percent: number): number | undefined {
  const calls = histogram.reduce((sum, count) => sum + count, 0);
  if (calls === 0) return undefined;
  const place = Math.ceil((calls * percent) / 100);
  let passed = 0;
  const bucket = histogram.findIndex((count) => (passed += count) >= place);
  const [firstMs, lastMs] = boundsOf(bucket);
  return Math.round((firstMs + lastMs) / 2);
}
