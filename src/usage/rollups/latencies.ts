/** Latencies of finished calls. Undefined without data, as in rollups that predate histograms. */
export interface Latency {
  /** Of streams with a first token. */
  readonly firstToken: Percentiles | undefined;
  readonly duration: Percentiles | undefined;
}

/** Latencies of a chart. */
export interface Latencies {
  readonly total: Latency;
  /** By the start of the bar, in ms. */
  readonly bars: ReadonlyMap<number, Latency>;
}

/** Source columns in `partsSql`. */
export const HISTOGRAMS = ['first_tokens', 'durations'] as const;

/** Histograms of one bar. */
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
 * Latency histograms: each power of two from 1 ms on is divided into ten buckets of equal width, so that a bucket's
 * middle differs from any value in it by at most 5 %. Below 16 ms each millisecond has its own bucket. Must match
 * `latency_bucket` in the database.
 */
const PER_DOUBLING = 10;
/** End of the last bucket, which also counts longer times. */
const MAX_MS = 2 ** 22 - 1;
/** Decimal digits per bucket: the database stores a histogram as one number. */
const DIGITS = 12;

/** Number of calls by bucket, from 0. */
type Histogram = readonly number[];

/** In ms. */
export interface Percentiles {
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** @param ms integer; 0 counts as 1 */
export function bucketOf(ms: number): number {
  const held = Math.min(Math.max(ms, 1), MAX_MS);
  const doubling = 31 - Math.clz32(held);
  return PER_DOUBLING * (doubling - 1) + ((PER_DOUBLING * held) >> doubling);
}

/** First and last millisecond of a bucket. */
export function boundsOf(bucket: number): readonly [firstMs: number, lastMs: number] {
  const beginning = (place: number): number => {
    const doubling = Math.floor(place / PER_DOUBLING);
    return Math.ceil((2 ** doubling * (PER_DOUBLING + (place % PER_DOUBLING))) / PER_DOUBLING);
  };
  return [beginning(bucket), beginning(bucket + 1) - 1];
}

/** @param number decimal from the database; null: no calls */
export function histogramOf(number: string | null): Histogram {
  const digits = number ?? '';
  return Array.from({ length: Math.ceil(digits.length / DIGITS) }, (_, bucket) => {
    const end = digits.length - bucket * DIGITS;
    return Number(digits.slice(Math.max(end - DIGITS, 0), end));
  });
}

export const addHistograms = (one: Histogram, other: Histogram): Histogram =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, bucket) => (one[bucket] ?? 0) + (other[bucket] ?? 0));

/** Undefined for an empty histogram. */
export function percentilesOf(histogram: Histogram): Percentiles | undefined {
  const [medianMs, p95Ms] = [percentile(histogram, 50), percentile(histogram, 95)];
  return medianMs === undefined || p95Ms === undefined ? undefined : { medianMs, p95Ms };
}

/** The middle of the bucket that contains the percentile. */
function percentile(histogram: Histogram, percent: number): number | undefined {
  const calls = histogram.reduce((sum, count) => sum + count, 0);
  if (calls === 0) return undefined;
  const place = Math.ceil((calls * percent) / 100);
  let passed = 0;
  const bucket = histogram.findIndex((count) => (passed += count) >= place);
  const [firstMs, lastMs] = boundsOf(bucket);
  return Math.round((firstMs + lastMs) / 2);
}
