import { Injectable } from '@nestjs/common';
import { type Nanos, nanos, ZERO } from '../shared/index.js';
import { HISTOGRAMS, latencies, type Latencies, type HistogramRow } from './latencies.js';
import type { Query } from './time-limited-reads.js';
import { barsBetween, type ChartScale } from './usage-chart.js';
import { Parameters, type UsageFilter } from './usage-filter.js';
import { COLUMNS } from './usage-levels.js';
import { type DividedBy, type Figure, partsSql } from './usage-parts.js';

/** What finished calls come to. */
export interface UsageFigures {
  readonly calls: number;
  /** Refused, failed and timed out ones among them. */
  readonly failed: number;
  readonly cost: Nanos;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** The figures of one bar, and of one series in it. */
export interface UsageBar extends UsageFigures {
  readonly start: Date;
  /** A model, or the id of a key; empty for all the rest, or when the chart is not divided. */
  readonly series: string;
}

export interface UsageSums {
  readonly total: UsageFigures;
  /** Where each bar begins, in order, those without calls too. */
  readonly starts: readonly Date[];
  /** Only of bars and series with calls. */
  readonly bars: readonly UsageBar[];
  /** What has a series of its own, the largest first. */
  readonly series: readonly string[];
  /** Of all series of a bar together. */
  readonly times: Latencies;
}

/** What the bars of a chart can be divided by; by channels for operators. */
export type Division = 'model' | 'key' | 'channel';

/** What makes a series one of the largest. */
type Largest = 'calls' | 'cost';

/** So many series have a colour of their own. */
const MOST_SERIES = 4;
/** So many models, and groups, are offered. */
const MOST_CHOICES = 500;
const COUNTS = ['calls', 'failed', 'cost', 'prompt', 'cached', 'completion'] as const;
const NONE: UsageFigures = {
  calls: 0,
  failed: 0,
  cost: ZERO,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
};

type Row = Readonly<Record<(typeof COUNTS)[number], string | null>> & {
  readonly start: Date;
  readonly series: string | null;
};

/**
 * Sums over the finished calls of a filter: to the last one, whatever part of them has been summed up before
 * (`usage_slots`) and whatever part is read call by call.
 */
@Injectable()
export class UsageSumsReader {
  async read(
    query: Query,
    asked: UsageFilter,
    scale: ChartScale,
    division?: Division,
    by: Largest = 'calls',
  ): Promise<UsageSums> {
    const filter = asked.result === 'open' ? { ...asked, to: asked.from } : asked;
    const parameters = new Parameters();
    if (division === undefined) {
      const rows = await query<Row & HistogramRow>(
        sumsSql(filter, scale, [], [...COUNTS, ...HISTOGRAMS], parameters),
        parameters.values,
      );
      return sumsOf(rows, [], latencies(rows));
    }
    const series = await firstNames(query, filter, division, by, MOST_SERIES);
    const divided = [seriesOf(division, series, parameters)];
    const rows = await query<Row>(sumsSql(filter, scale, divided, COUNTS, parameters), parameters.values);
    return sumsOf(rows, series, await this.times(query, filter, scale));
  }

  /** What a filter can be narrowed to: the models and groups of its calls, the most calls first. */
  async choices(query: Query, filter: UsageFilter): Promise<{ readonly models: string[]; readonly groups: string[] }> {
    const { accountId, from, to, requestId } = filter;
    const open = { accountId, from, to, requestId };
    return {
      models: await firstNames(query, open, 'model', 'calls', MOST_CHOICES),
      groups: await firstNames(query, open, 'group', 'calls', MOST_CHOICES),
    };
  }

  /** Series have no percentiles of their own: those of all are read from fewer rows. */
  private async times(query: Query, filter: UsageFilter, scale: ChartScale): Promise<Latencies> {
    const parameters = new Parameters();
    return latencies(await query<HistogramRow>(sumsSql(filter, scale, [], HISTOGRAMS, parameters), parameters.values));
  }
}

/** The names that most calls, or most costs, are of. */
async function firstNames(
  query: Query,
  filter: UsageFilter,
  dimension: Division | 'group',
  by: Largest,
  most: number,
): Promise<string[]> {
  const parameters = new Parameters();
  const request = { filter, by: [{ dimension, name: 'name' }], figures: [by] } as const;
  const rows = await query<{ name: string }>(
    `WITH ${partsSql(request, parameters)}
     SELECT name FROM parts WHERE name <> '' GROUP BY 1 ORDER BY sum(${by}) DESC, 1 LIMIT ${most}`,
    parameters.values,
  );
  return rows.map(({ name }) => name);
}

const seriesOf = (division: Division, largest: readonly string[], parameters: Parameters): DividedBy => ({
  dimension: division,
  name: 'series',
  sql: `CASE WHEN ${COLUMNS[division]} = ANY (${parameters.add(largest, 'text[]')}) THEN ${COLUMNS[division]} ELSE '' END`,
});

function sumsSql(
  filter: UsageFilter,
  scale: ChartScale,
  divided: readonly DividedBy[],
  figures: readonly Figure[],
  parameters: Parameters,
): string {
  const zone = parameters.add(scale.timeZone);
  const parts = partsSql({ filter, bars: { unit: scale.unit, zone }, by: divided, figures }, parameters);
  const bars = barsBetween(scale.unit, parameters.time(filter.from), parameters.time(filter.to), zone);
  const series = divided.length === 0 ? `''` : 'series';
  return `
    WITH ${parts}, sums AS (
      SELECT bar, ${series} AS series, ${figures.map((name) => `sum(${name}) AS ${name}`).join(', ')}
        FROM parts GROUP BY 1, 2
    )
    SELECT bar AS start, series, ${figures.join(', ')} FROM sums FULL JOIN ${bars} USING (bar) ORDER BY bar, series`;
}

function sumsOf(rows: readonly Row[], series: readonly string[], times: Latencies): UsageSums {
  const bars = rows.filter(({ calls }) => calls !== null && calls !== '0').map(barFrom);
  const starts = [...new Set(rows.map(({ start }) => start.getTime()))].map((time) => new Date(time));
  return { total: bars.reduce(plus, NONE), starts, bars, series, times };
}

const barFrom = (row: Row): UsageBar => ({
  start: row.start,
  series: row.series ?? '',
  calls: Number(row.calls),
  failed: Number(row.failed),
  cost: nanos(BigInt(row.cost ?? 0)),
  promptTokens: Number(row.prompt),
  cachedTokens: Number(row.cached),
  completionTokens: Number(row.completion),
});

const plus = (one: UsageFigures, other: UsageFigures): UsageFigures => ({
  calls: one.calls + other.calls,
  failed: one.failed + other.failed,
  cost: nanos(one.cost + other.cost),
  promptTokens: one.promptTokens + other.promptTokens,
  cachedTokens: one.cachedTokens + other.cachedTokens,
  completionTokens: one.completionTokens + other.completionTokens,
});
