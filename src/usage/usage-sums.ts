import { Injectable } from '@nestjs/common';
import { type Nanos, nanos, ZERO } from '../shared/index.js';
import type { Query } from './time-limited-reads.js';
import { barOf, barsBetween, type ChartScale } from './usage-chart.js';
import { Parameters, type UsageFilter } from './usage-filter.js';
import { partsSql } from './usage-parts.js';

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
}

/** What the bars of a chart can be divided by; by channels for operators. */
export type Division = 'model' | 'key' | 'channel';

/** What makes a series one of the largest. */
type Largest = 'calls' | 'cost';

/** So many series have a colour of their own. */
const MOST_SERIES = 4;
const DIVIDED_BY: Readonly<Record<Division, string>> = { model: 'c.model', key: 'c.key_id', channel: 'c.channel' };
const NONE: UsageFigures = {
  calls: 0,
  failed: 0,
  cost: ZERO,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
};

type Row = Readonly<Record<'calls' | 'failed' | 'cost' | 'prompt' | 'cached' | 'completion', string | null>> & {
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
    const series = division === undefined ? [] : await this.largest(query, filter, division, by);
    const parameters = new Parameters();
    const dimension = division === undefined ? `''` : seriesOf(division, series, parameters);
    const rows = await query<Row>(sumsSql(filter, scale, dimension, parameters), parameters.values);
    const bars = rows.filter(({ calls }) => calls !== null && calls !== '0').map(barFrom);
    const starts = [...new Set(rows.map(({ start }) => start.getTime()))].map((time) => new Date(time));
    return { total: bars.reduce(plus, NONE), starts, bars, series };
  }

  /** What a filter can be narrowed to: the models and groups of its calls, the most calls first. */
  async choices(query: Query, filter: UsageFilter): Promise<{ readonly models: string[]; readonly groups: string[] }> {
    const { accountId, from, to, requestId } = filter;
    const open = { accountId, from, to, requestId };
    const parameters = new Parameters();
    const rows = await query<{ model: string; group: string }>(
      `WITH ${partsSql(open, 'all', `c.model, c.group_name`, 'model, group_name', parameters)}
       SELECT model, group_name AS "group" FROM parts GROUP BY 1, 2 ORDER BY sum(calls) DESC LIMIT 500`,
      parameters.values,
    );
    return { models: distinct(rows.map(({ model }) => model)), groups: distinct(rows.map(({ group }) => group)) };
  }

  private async largest(query: Query, filter: UsageFilter, division: Division, by: Largest): Promise<string[]> {
    const parameters = new Parameters();
    const rows = await query<{ series: string }>(
      `WITH ${partsSql(filter, 'all', DIVIDED_BY[division], 'series', parameters)}
       SELECT series FROM parts WHERE series <> '' GROUP BY 1 ORDER BY sum(${by}) DESC, 1 LIMIT ${MOST_SERIES}`,
      parameters.values,
    );
    return rows.map(({ series }) => series);
  }
}

const seriesOf = (division: Division, largest: readonly string[], parameters: Parameters): string =>
  `CASE WHEN ${DIVIDED_BY[division]} = ANY (${parameters.add(largest, 'text[]')}) THEN ${DIVIDED_BY[division]} ELSE '' END`;

function sumsSql(filter: UsageFilter, scale: ChartScale, dimension: string, parameters: Parameters): string {
  const zone = parameters.add(scale.timeZone);
  const parts = partsSql(filter, scale.unit, dimension, 'series', parameters);
  const bars = barsBetween(scale.unit, parameters.time(filter.from), parameters.time(filter.to), zone);
  return `
    WITH ${parts}, sums AS (
      SELECT ${barOf(scale.unit, 'at', zone)} AS bar, series, sum(calls) AS calls, sum(failed) AS failed,
             sum(cost) AS cost, sum(prompt) AS prompt, sum(cached) AS cached, sum(completion) AS completion
        FROM parts GROUP BY 1, 2
    )
    SELECT bar AS start, series, calls, failed, cost, prompt, cached, completion
      FROM sums FULL JOIN ${bars} USING (bar) ORDER BY bar, series`;
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

const distinct = (names: readonly string[]): string[] => [...new Set(names.filter((name) => name !== ''))];
