import { Injectable } from '@nestjs/common';
import { type Nanos, nanos } from '../../platform/shared/index.js';
import { hasFailed, isRefused, resultOf } from '../calls/recorded-call.js';
import type { Query } from '../time-limited-reads.js';
import { conditions, Parameters, type UsageFilter } from '../usage-filter.js';
import { barOf, type ChartUnit, COLUMNS, type Dimension, rollupsOf, WITHOUT_DIMENSIONS } from './usage-chart.js';

/** SQL expression for the start of a moment's 15-minute bucket. */
export const bucketAt = (moment: string): string => `date_bin('15 minutes', ${moment}, '2000-01-01 00:00:00+00')`;

/** SQL expression for the first bucket that begins at or after a moment. */
const bucketAfter = (moment: string): string =>
  bucketAt(`${moment} + interval '15 minutes' - interval '1 microsecond'`);

/** SQL expression for the end of the rolled-up period. */
export const ROLLED_UP_UNTIL = '(SELECT summed_until FROM usage_watermark)';

/**
 * The CTE "buckets": the range of whole rolled-up buckets within a period; empty if both bounds are equal. The rest of
 * the period is read from the calls.
 */
export const wholeBuckets = (from: string, to: string): string => `
    buckets AS MATERIALIZED (
      SELECT begin, greatest(begin, least(${bucketAt(to)}, ${ROLLED_UP_UNTIL})) AS "end"
        FROM (SELECT ${bucketAfter(from)} AS begin) s
    )`;

const CALL_FAILED = hasFailed(resultOf('c'));

interface FigureSql {
  readonly ofCalls: string;
  readonly ofRollups: string;
}

const whole = (ofCalls: string, ofRollups: string): FigureSql => ({
  ofCalls: `coalesce(sum(${ofCalls}), 0)::bigint`,
  ofRollups: `coalesce(sum(${ofRollups}), 0)::bigint`,
});

/** Aggregated figures by column name. Histograms are null without calls. */
const FIGURES = {
  calls: { ofCalls: 'count(*)', ofRollups: 'sum(c.calls)::bigint' },
  failed: {
    ofCalls: `count(*) FILTER (WHERE ${CALL_FAILED})`,
    ofRollups: `coalesce(sum(c.calls) FILTER (WHERE ${hasFailed('c.result')}), 0)::bigint`,
  },
  refused: {
    ofCalls: `count(*) FILTER (WHERE ${isRefused(resultOf('c'))})`,
    ofRollups: `coalesce(sum(c.calls) FILTER (WHERE ${isRefused('c.result')}), 0)::bigint`,
  },
  retried: {
    ofCalls: `count(*) FILTER (WHERE c.attempts > 1 AND ${CALL_FAILED})`,
    ofRollups: `coalesce(sum(c.retried) FILTER (WHERE ${hasFailed('c.result')}), 0)::bigint`,
  },
  cost: whole('c.cost', 'c.cost'),
  known: { ofCalls: 'count(c.upstream_cost)', ofRollups: 'sum(c.known)::bigint' },
  upstream_cost: whole('c.upstream_cost', 'c.upstream_cost'),
  charged_of_known: whole('CASE WHEN c.upstream_cost IS NOT NULL THEN c.cost END', 'c.charged_of_known'),
  prompt: whole('c.prompt_tokens', 'c.prompt_tokens'),
  cached: whole('c.cached_tokens', 'c.cached_tokens'),
  completion: whole('c.completion_tokens', 'c.completion_tokens'),
  first_tokens: { ofCalls: 'sum(latency_histogram(c.first_token_ms))', ofRollups: 'sum(c.first_tokens)' },
  durations: { ofCalls: 'sum(latency_histogram(c.duration_ms))', ofRollups: 'sum(c.durations)' },
} as const satisfies Readonly<Record<string, FigureSql>>;

export type Figure = keyof typeof FIGURES;

/** A split by a dimension; `name` is its column. */
interface DividedBy {
  readonly dimension: Dimension;
  readonly name: string;
}

/** Filter, bars, split and figures of a query. */
interface PartsRequest {
  readonly filter: UsageFilter;
  /** `zone`: SQL expression for the time zone. Undefined: not split by time. */
  readonly bars?: { readonly unit: ChartUnit; readonly zone: string };
  readonly by: readonly DividedBy[];
  readonly figures: readonly Figure[];
}

/**
 * The CTE "parts": totals of finished calls by bar and split. Whole rolled-up buckets come from rollups, the rest from
 * the calls; no call counts twice, and a bar may have parts of both.
 */
export function partsSql({ filter, bars, by, figures }: PartsRequest, parameters: Parameters): string {
  const [from, to] = [parameters.time(filter.from), parameters.time(filter.to)];
  const select = (moment: string, source: keyof FigureSql): string => {
    const divided = by.map(({ dimension, name }) => `${COLUMNS[dimension]} AS ${name}`);
    const bar = `${bars === undefined ? 'NULL::timestamptz' : barOf(bars.unit, moment, bars.zone)} AS bar`;
    return `SELECT ${[bar, ...divided, ...figures.map((name) => `${FIGURES[name][source]} AS ${name}`)].join(', ')}`;
  };
  const grouped = `GROUP BY ${['1', ...by.map((_, index) => String(index + 2))].join(', ')}`;
  const ofCalls = conditions(filter, parameters);
  const fromCalls = (bounds: string): string =>
    `${select('c.created_at', 'ofCalls')} FROM calls c WHERE ${bounds}${ofCalls} ${grouped}`;
  const rollups = rollupsOf(
    filter,
    by.map(({ dimension }) => dimension),
  );
  if (bars?.unit === 'minute' || rollups === undefined)
    return `parts AS (${fromCalls(`c.created_at >= ${from} AND c.created_at < ${to}`)})`;
  return `${wholeBuckets(from, to)}, parts AS (
      ${select('c.slot', 'ofRollups')} FROM usage_slots c
       WHERE ${rollups} AND c.slot >= (SELECT begin FROM buckets) AND c.slot < (SELECT "end" FROM buckets)
         ${conditions(filter, parameters, 'c.result')} ${grouped}
      UNION ALL ${fromCalls(`c.created_at >= ${from} AND c.created_at < least(${to}, (SELECT begin FROM buckets))`)}
      UNION ALL ${fromCalls(`c.created_at >= (SELECT "end" FROM buckets) AND c.created_at < ${to}`)}
    )`;
}

/** Totals of an account's finished calls on one day. */
export interface UsageDay {
  /** Local midnight. */
  readonly start: Date;
  readonly calls: number;
  readonly tokens: number;
  /** The model with the highest cost; among free ones, with most calls. */
  readonly topModel: string;
  readonly cost: Nanos;
}

type DayRow = Pick<UsageDay, 'start' | 'topModel'> & Readonly<Record<'calls' | 'tokens' | 'cost', string>>;

/** Cost of an account's calls by day and between moments. */
@Injectable()
export class UsageDays {
  /** Days with calls in `from <= time < to`, newest first. */
  async days(query: Query, accountId: string, timeZone: string, from: Date, to: Date): Promise<readonly UsageDay[]> {
    const parameters = new Parameters();
    const bars = { unit: 'day', zone: parameters.add(timeZone) } as const;
    const by = [{ dimension: 'model', name: 'model' }] as const;
    const figures = ['calls', 'cost', 'prompt', 'completion'] as const;
    const parts = partsSql({ filter: { accountId, from, to }, bars, by, figures }, parameters);
    const rows = await query<DayRow>(
      `WITH ${parts}, by_model AS (
         SELECT bar AS start, model, sum(calls) AS calls, sum(prompt + completion) AS tokens, sum(cost) AS cost
           FROM parts GROUP BY 1, 2 HAVING sum(calls) > 0
       )
       SELECT start, sum(calls) AS calls, sum(tokens) AS tokens, sum(cost) AS cost,
              (array_agg(model ORDER BY cost DESC, calls DESC, model))[1] AS "topModel"
         FROM by_model GROUP BY 1 ORDER BY 1 DESC`,
      parameters.values,
    );
    return rows.map(({ calls, tokens, cost, ...row }) => ({
      ...row,
      calls: Number(calls),
      tokens: Number(tokens),
      cost: nanos(BigInt(cost)),
    }));
  }

  /** Start of the last call before a moment; undefined: none. */
  async lastBefore(query: Query, accountId: string, moment: Date): Promise<Date | undefined> {
    const [row] = await query<{ at: Date }>(LAST_BEFORE, [accountId, moment.toISOString()]);
    return row?.at;
  }

  /** Start of the first call; undefined: none. */
  async first(query: Query, accountId: string): Promise<Date | undefined> {
    const [row] = await query<{ at: Date }>(FIRST, [accountId]);
    return row?.at;
  }

  /** Cost of the calls that began in each period (`from <= time < to`), by position. */
  async costs(
    query: Query,
    accountId: string,
    spans: readonly { readonly from: Date; readonly to: Date }[],
  ): Promise<readonly Nanos[]> {
    const rows = await query<{ cost: string }>(COSTS, [
      accountId,
      spans.map(({ from }) => from.toISOString()),
      spans.map(({ to }) => to.toISOString()),
    ]);
    return rows.map(({ cost }) => nanos(BigInt(cost)));
  }
}

/** Rollups outlive their calls. The index finds the first and last bucket of each level. */
const ofBothLevels = (slot: string): string => `${slot.replace('?', 'all')} UNION ALL ${slot.replace('?', 'few')}`;

const LAST_BEFORE = `
  SELECT max(at) AS at FROM (
    (SELECT created_at AS at FROM calls WHERE account_id = $1 AND created_at < $2::timestamptz ORDER BY created_at DESC LIMIT 1)
    UNION ALL
    ${ofBothLevels(`(SELECT slot FROM usage_slots WHERE account_id = $1 AND level = '?' AND slot < $2::timestamptz
                  ORDER BY slot DESC LIMIT 1)`)}
  ) t HAVING max(at) IS NOT NULL`;

const FIRST = `
  SELECT min(at) AS at FROM (
    (SELECT created_at AS at FROM calls WHERE account_id = $1 ORDER BY created_at LIMIT 1)
    UNION ALL
    ${ofBothLevels(`(SELECT slot FROM usage_slots WHERE account_id = $1 AND level = '?' ORDER BY slot LIMIT 1)`)}
  ) t HAVING min(at) IS NOT NULL`;

const COSTS = `
  SELECT (SELECT coalesce(sum(c.cost), 0) FROM usage_slots c
           WHERE c.account_id = $1 AND ${WITHOUT_DIMENSIONS} AND c.slot >= b.first AND c.slot < b.last)
       + (SELECT coalesce(sum(c.cost), 0) FROM calls c
           WHERE c.account_id = $1 AND c.created_at >= s.begin AND c.created_at < least(b.first, s.finish))
       + (SELECT coalesce(sum(c.cost), 0) FROM calls c
           WHERE c.account_id = $1 AND c.created_at >= b.last AND c.created_at < s.finish) AS cost
    FROM unnest($2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS s (begin, finish, place),
      LATERAL (SELECT ${bucketAfter('s.begin')} AS first, greatest(${bucketAfter('s.begin')},
        least(${bucketAt('s.finish')}, ${ROLLED_UP_UNTIL})) AS last) b
   ORDER BY s.place`;
