import { Injectable } from '@nestjs/common';
import { type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import { HISTOGRAMS, latencies, type Latencies, type HistogramRow } from './latencies.js';
import type { Query } from '../time-limited-reads.js';
import { barsBetween, type ChartScale } from './usage-chart.js';
import { Parameters, type UsageFilter } from '../usage-filter.js';
import { type Figure, partsSql } from './usage-days.js';

/** Totals of finished calls. */
export interface UsageFigures {
  readonly calls: number;
  readonly refused: number;
  /** Including timed-out calls. */
  readonly failed: number;
  readonly cost: Nanos;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** Totals of a bar and a series. */
export interface UsageBar extends UsageFigures {
  readonly start: Date;
  /** A model name or key ID; empty for the rest, or without a split. */
  readonly series: string;
}

export interface UsageTotals {
  readonly total: UsageFigures;
  /** Starts of all bars in order, including empty ones. */
  readonly starts: readonly Date[];
  /** Only bars and series with calls. */
  readonly bars: readonly UsageBar[];
  /** Series with their own color, largest first. */
  readonly series: readonly string[];
  /** Latencies of all series of a bar. */
  readonly times: Latencies;
}

/** Splits of a chart; channels are for administrators. */
export type Division = 'model' | 'key' | 'channel';

/** Measure by which series are ranked. */
type Largest = 'calls' | 'cost';

interface Divided {
  readonly dimension: Division;
  readonly by: Largest;
}

/** Max series with their own color. */
const MAX_SERIES = 4;
const COUNTS = ['calls', 'refused', 'failed', 'cost', 'prompt', 'cached', 'completion'] as const;
const NONE: UsageFigures = {
  calls: 0,
  refused: 0,
  failed: 0,
  cost: ZERO,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
};

type TotalsRow = Readonly<Record<(typeof COUNTS)[number], string | null>> & {
  readonly start: Date;
  readonly series: string | null;
  /** Rank among the largest series; null: the rest, or no split. */
  readonly rank: number | null;
};

/**
 * Totals of the finished calls of a filter, up to the last one: from rollups (`usage_slots`) as far as they go, else
 * from the calls.
 */
@Injectable()
export class UsageTotalsReader {
  async read(
    query: Query,
    requested: UsageFilter,
    scale: ChartScale,
    division?: Division,
    by: Largest = 'calls',
  ): Promise<UsageTotals> {
    const filter = requested.result === 'open' ? { ...requested, to: requested.from } : requested;
    if (division === undefined) {
      const rows = await this.rows<TotalsRow & HistogramRow>(query, filter, scale, [...COUNTS, ...HISTOGRAMS]);
      return totalsOf(rows, latencies(rows));
    }
    const rows = await this.rows<TotalsRow>(query, filter, scale, COUNTS, { dimension: division, by });
    // Series have no percentiles; those of bars come from fewer rows.
    return totalsOf(rows, latencies(await this.rows<HistogramRow>(query, filter, scale, HISTOGRAMS)));
  }

  private rows<OfBar>(
    query: Query,
    filter: UsageFilter,
    scale: ChartScale,
    figures: readonly Figure[],
    divided?: Divided,
  ): Promise<OfBar[]> {
    const parameters = new Parameters();
    return query<OfBar>(totalsSql(filter, scale, figures, divided, parameters), parameters.values);
  }
}

/** Totals by bar and series. One scan computes the totals and the ranking of series. */
function totalsSql(
  filter: UsageFilter,
  scale: ChartScale,
  figures: readonly Figure[],
  divided: Divided | undefined,
  parameters: Parameters,
): string {
  const zone = parameters.add(scale.timeZone);
  const by = divided === undefined ? [] : [{ dimension: divided.dimension, name: 'name' }];
  const parts = partsSql({ filter, bars: { unit: scale.unit, zone }, by, figures }, parameters);
  const bars = barsBetween(scale.unit, parameters.time(filter.from), parameters.time(filter.to), zone);
  return `
    WITH ${parts}, ranked AS (${divided === undefined ? 'SELECT *, NULL AS name, NULL AS rank FROM parts' : rankedBy(divided.by)}
    ), sums AS (
      SELECT bar, CASE WHEN rank IS NULL THEN '' ELSE name END AS series, rank,
             ${figures.map((name) => `sum(${name}) AS ${name}`).join(', ')}
        FROM ranked GROUP BY 1, 2, 3
    )
    SELECT bar AS start, series, rank, ${figures.join(', ')} FROM sums FULL JOIN ${bars} USING (bar) ORDER BY bar, rank`;
}

const rankedBy = (figure: Largest): string => `
      SELECT * FROM parts LEFT JOIN (
        SELECT name, (row_number() OVER (ORDER BY sum(${figure}) DESC, name))::integer AS rank
          FROM parts WHERE name <> '' GROUP BY 1 ORDER BY 2 LIMIT ${MAX_SERIES}) l USING (name)`;

function totalsOf(rows: readonly TotalsRow[], times: Latencies): UsageTotals {
  const bars = rows.filter(({ calls }) => calls !== null).map(barFrom);
  const starts = [...new Set(rows.map(({ start }) => start.getTime()))].map((time) => new Date(time));
  return { total: bars.reduce(plus, NONE), starts, bars, series: largestOf(rows), times };
}

function largestOf(rows: readonly TotalsRow[]): readonly string[] {
  const ranked = rows.flatMap(({ series, rank }) => (series === null || rank === null ? [] : [{ series, rank }]));
  return [...new Set(ranked.toSorted((one, other) => one.rank - other.rank).map(({ series }) => series))];
}

const barFrom = (row: TotalsRow): UsageBar => ({
  start: row.start,
  series: row.series ?? '',
  calls: Number(row.calls),
  refused: Number(row.refused),
  failed: Number(row.failed),
  cost: nanos(BigInt(row.cost ?? 0)),
  promptTokens: Number(row.prompt),
  cachedTokens: Number(row.cached),
  completionTokens: Number(row.completion),
});

const plus = (one: UsageFigures, other: UsageFigures): UsageFigures => ({
  calls: one.calls + other.calls,
  refused: one.refused + other.refused,
  failed: one.failed + other.failed,
  cost: nanos(one.cost + other.cost),
  promptTokens: one.promptTokens + other.promptTokens,
  cachedTokens: one.cachedTokens + other.cachedTokens,
  completionTokens: one.completionTokens + other.completionTokens,
});
