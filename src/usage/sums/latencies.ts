import { addHistograms, type Histogram, histogramOf, type Percentiles, percentilesOf } from './latency-buckets.js';

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
