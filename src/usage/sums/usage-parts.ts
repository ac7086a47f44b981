import { hasFailed, resultOf } from '../calls/call-result.js';
import { barOf, type ChartUnit } from './usage-chart.js';
import { conditions, type Parameters, type UsageFilter } from '../usage-filter.js';
import { COLUMNS, type Dimension, slotsOf } from './usage-levels.js';

/** SQL for the beginning of the quarter of an hour that a moment lies in. */
export const slotAt = (moment: string): string => `date_bin('15 minutes', ${moment}, '2000-01-01 00:00:00+00')`;

/** SQL for the first one that begins at that moment or after it. */
export const slotAfter = (moment: string): string =>
  slotAt(`${moment} + interval '15 minutes' - interval '1 microsecond'`);

/** SQL for the moment up to which calls are summed up. */
export const SUMMED_UNTIL = '(SELECT summed_until FROM usage_watermark)';

/**
 * The CTE "slots": from where to where the quarters of an hour go that lie in a span as a whole and are summed up; none
 * where both are the same. What of the span is before and behind them is read call by call.
 */
export const wholeSlots = (from: string, to: string): string => `
    slots AS MATERIALIZED (
      SELECT begin, greatest(begin, least(${slotAt(to)}, ${SUMMED_UNTIL})) AS "end"
        FROM (SELECT ${slotAfter(from)} AS begin) s
    )`;

const CALL_FAILED = hasFailed(resultOf('c'));

interface Sum {
  readonly ofCalls: string;
  readonly ofSlots: string;
}

const whole = (ofCalls: string, ofSlots: string): Sum => ({
  ofCalls: `coalesce(sum(${ofCalls}), 0)::bigint`,
  ofSlots: `coalesce(sum(${ofSlots}), 0)::bigint`,
});

/** What is summed up, by the name of its column. Histograms are null where there is no call. */
const SUMS = {
  calls: { ofCalls: 'count(*)', ofSlots: 'sum(c.calls)::bigint' },
  failed: {
    ofCalls: `count(*) FILTER (WHERE ${CALL_FAILED})`,
    ofSlots: `coalesce(sum(c.calls) FILTER (WHERE ${hasFailed('c.result')}), 0)::bigint`,
  },
  retried: {
    ofCalls: `count(*) FILTER (WHERE c.attempts > 1 AND ${CALL_FAILED})`,
    ofSlots: 'coalesce(sum(c.retried), 0)::bigint',
  },
  cost: whole('c.cost', 'c.cost'),
  known: { ofCalls: 'count(c.upstream_cost)', ofSlots: 'sum(c.known)::bigint' },
  upstream_cost: whole('c.upstream_cost', 'c.upstream_cost'),
  charged_of_known: whole('CASE WHEN c.upstream_cost IS NOT NULL THEN c.cost END', 'c.charged_of_known'),
  prompt: whole('c.prompt_tokens', 'c.prompt_tokens'),
  cached: whole('c.cached_tokens', 'c.cached_tokens'),
  completion: whole('c.completion_tokens', 'c.completion_tokens'),
  first_tokens: { ofCalls: 'sum(latency_histogram(c.first_token_ms))', ofSlots: 'sum(c.first_tokens)' },
  durations: { ofCalls: 'sum(latency_histogram(c.duration_ms))', ofSlots: 'sum(c.durations)' },
} as const satisfies Readonly<Record<string, Sum>>;

export type Figure = keyof typeof SUMS;

/** Of a division by a dimension; `name` is its column. */
interface DividedBy {
  readonly dimension: Dimension;
  readonly name: string;
}

/** Which calls, by which bars of a chart, divided by what, and what of them. */
export interface PartsRequest {
  readonly filter: UsageFilter;
  /** `zone`: SQL for the time zone. Left out: not by time. */
  readonly bars?: { readonly unit: ChartUnit; readonly zone: string };
  readonly by: readonly DividedBy[];
  readonly figures: readonly Figure[];
}

/**
 * The CTE "parts": what finished calls come to, by the beginning of their bar (`bar`) and whatever they are divided by.
 * Whole quarters of an hour that are summed up come from there, the rest from the calls: every call is in one of the two,
 * and a bar may have parts of both.
 */
export function partsSql({ filter, bars, by, figures }: PartsRequest, parameters: Parameters): string {
  const [from, to] = [parameters.time(filter.from), parameters.time(filter.to)];
  const select = (moment: string, source: keyof Sum): string => {
    const divided = by.map(({ dimension, name }) => `${COLUMNS[dimension]} AS ${name}`);
    const bar = `${bars === undefined ? 'NULL::timestamptz' : barOf(bars.unit, moment, bars.zone)} AS bar`;
    return `SELECT ${[bar, ...divided, ...figures.map((name) => `${SUMS[name][source]} AS ${name}`)].join(', ')}`;
  };
  const grouped = `GROUP BY ${['1', ...by.map((_, index) => String(index + 2))].join(', ')}`;
  const ofCalls = conditions(filter, parameters);
  const fromCalls = (bounds: string): string =>
    `${select('c.created_at', 'ofCalls')} FROM calls c WHERE ${bounds}${ofCalls} ${grouped}`;
  const slots = slotsOf(
    filter,
    by.map(({ dimension }) => dimension),
  );
  if (bars?.unit === 'minute' || slots === undefined)
    return `parts AS (${fromCalls(`c.created_at >= ${from} AND c.created_at < ${to}`)})`;
  return `${wholeSlots(from, to)}, parts AS (
      ${select('c.slot', 'ofSlots')} FROM usage_slots c
       WHERE ${slots} AND c.slot >= (SELECT begin FROM slots) AND c.slot < (SELECT "end" FROM slots)
         ${conditions(filter, parameters, 'c.result')} ${grouped}
      UNION ALL ${fromCalls(`c.created_at >= ${from} AND c.created_at < least(${to}, (SELECT begin FROM slots))`)}
      UNION ALL ${fromCalls(`c.created_at >= (SELECT "end" FROM slots) AND c.created_at < ${to}`)}
    )`;
}
