import { type Nanos, nanos } from '../shared/index.js';
import type { Query } from './time-limited-reads.js';
import { barOf, barsBetween, type ChartScale } from './usage-chart.js';
import { Parameters } from './usage-filter.js';

/** What finished calls of all accounts came to. Money in nano-dollars. */
export interface TrafficFigures {
  readonly calls: number;
  /** Refused, failed and timed out ones among them. */
  readonly failed: number;
  /** Those of the failed that had been tried more than once. */
  readonly failedAfterRetry: number;
  readonly charged: Nanos;
  /** How many of the calls have a known cost, what these cost, and what was charged for these. */
  readonly known: number;
  readonly cost: Nanos;
  readonly chargedOfKnown: Nanos;
}

export interface TrafficBar extends Pick<TrafficFigures, 'calls' | 'failed'> {
  readonly start: Date;
}

/** The figures of a model, by its name, or of an account, by its id. */
export interface TrafficPart extends TrafficFigures {
  readonly name: string;
}

/** All calls of a span of time, read once. */
export interface Traffic {
  readonly total: TrafficFigures;
  /** Every one of the span, in order, those without calls too. */
  readonly bars: readonly TrafficBar[];
  /** That most was charged for in front. */
  readonly models: readonly TrafficPart[];
  /** The few that most was charged to. */
  readonly accounts: readonly TrafficPart[];
}

/** A span of time: `from <= time < to`. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

type Count = 'calls' | 'failed' | 'retried' | 'charged' | 'known' | 'cost' | 'chargedOfKnown';

/** What a row is the sum of: the bits of what it is not divided by, as `grouping` has them. */
const LEVELS = { bar: 3, model: 5, account: 6, total: 7 } as const;

type Row = Readonly<Record<Count, string>> & {
  readonly level: number;
  readonly bar: Date | null;
  readonly name: string | null;
};

const MOST_ACCOUNTS = 5;

/**
 * The calls are read once, and added up by everything at the same time; what is shown is added up again from these few
 * rows. A million calls take seconds: whoever asks must be ready for less (`TimeLimitedReads`).
 */
export async function readTraffic(query: Query, { from, to }: Span, scale: ChartScale): Promise<Traffic> {
  const parameters = new Parameters();
  const [zone, first, last] = [parameters.add(scale.timeZone), parameters.time(from), parameters.time(to)];
  const rows = await query<Row>(trafficSql(barOf(scale.unit, 'c.created_at', zone), first, last), parameters.values);
  const starts = await barStarts(query, { from, to }, scale);
  const ofLevel = (level: number): Row[] => rows.filter((row) => row.level === level);
  const bars = new Map(ofLevel(LEVELS.bar).map((row) => [row.bar?.getTime(), row]));
  const [total] = ofLevel(LEVELS.total);
  return {
    total: figuresOf(total),
    bars: starts.map((start) => ({ start, ...figuresOf(bars.get(start.getTime())) })),
    models: ofLevel(LEVELS.model).map(partOf),
    accounts: ofLevel(LEVELS.account).map(partOf),
  };
}

/** How many finished calls began in a span. */
export async function countCalls(query: Query, { from, to }: Span): Promise<number> {
  const [row] = await query<{ calls: string }>(
    'SELECT count(*) AS calls FROM calls WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz',
    [from.toISOString(), to.toISOString()],
  );
  return Number(row?.calls ?? 0);
}

const trafficSql = (bar: string, from: string, to: string): string => `
  WITH parts AS MATERIALIZED (
    SELECT ${bar} AS bar, model, account_id, count(*) AS calls,
           count(*) FILTER (WHERE has_failed) AS failed,
           count(*) FILTER (WHERE has_failed AND attempts > 1) AS retried,
           sum(cost) AS charged, count(upstream_cost) AS known, sum(upstream_cost) AS cost,
           sum(cost) FILTER (WHERE upstream_cost IS NOT NULL) AS charged_of_known
      FROM (SELECT created_at, model, account_id, attempts, cost, upstream_cost,
                   call_result(status, error_reason, billing_basis) IN ('refused', 'failed', 'timeout') AS has_failed
              FROM calls WHERE created_at >= ${from} AND created_at < ${to}) c
     GROUP BY 1, 2, 3
  ), sums AS (
    SELECT grouping(bar, model, account_id) AS level, bar, coalesce(model, account_id) AS name, sum(calls) AS calls,
           sum(failed) AS failed, sum(retried) AS retried, coalesce(sum(charged), 0) AS charged, sum(known) AS known,
           coalesce(sum(cost), 0) AS cost, coalesce(sum(charged_of_known), 0) AS charged_of_known
      FROM parts GROUP BY GROUPING SETS ((bar), (model), (account_id), ())
  )
  SELECT level, bar, name, calls, failed, retried, charged, known, cost, charged_of_known AS "chargedOfKnown"
    FROM (SELECT *, row_number() OVER (PARTITION BY level ORDER BY charged DESC, calls DESC, name) AS place FROM sums) s
   WHERE level <> ${LEVELS.account} OR place <= ${MOST_ACCOUNTS}
   ORDER BY level, place`;

async function barStarts(query: Query, { from, to }: Span, { unit, timeZone }: ChartScale): Promise<Date[]> {
  const parameters = new Parameters();
  const zone = parameters.add(timeZone);
  const bars = barsBetween(unit, parameters.time(from), parameters.time(to), zone);
  return (await query<{ bar: Date }>(`SELECT bar FROM ${bars} ORDER BY bar`, parameters.values)).map(({ bar }) => bar);
}

/** Of no row, and of the one row of no calls, whose sums are unknown: nothing. */
const figuresOf = (row: Row | undefined): TrafficFigures => ({
  calls: Number(row?.calls ?? 0),
  failed: Number(row?.failed ?? 0),
  failedAfterRetry: Number(row?.retried ?? 0),
  charged: nanos(BigInt(row?.charged ?? 0)),
  known: Number(row?.known ?? 0),
  cost: nanos(BigInt(row?.cost ?? 0)),
  chargedOfKnown: nanos(BigInt(row?.chargedOfKnown ?? 0)),
});

const partOf = (row: Row): TrafficPart => ({ name: row.name ?? '', ...figuresOf(row) });
