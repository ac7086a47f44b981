import type { ChartUnit } from './usage-chart.js';
import { conditions, ofFinished, type Parameters, type UsageFilter } from './usage-filter.js';

/** SQL for the beginning of the quarter of an hour that a moment lies in. */
export const slotAt = (moment: string): string => `date_bin('15 minutes', ${moment}, '2000-01-01 00:00:00+00')`;

/** SQL for the first one that begins at that moment or after it. */
export const slotAfter = (moment: string): string =>
  slotAt(`${moment} + interval '15 minutes' - interval '1 microsecond'`);

/**
 * The CTE "parts": finished calls by quarters of an hour (by minutes for a chart of those; `all`: not by time) and whatever they are divided by.
 * Whole quarters that are summed up come from there, the rest from the calls: every call is in one of the two.
 */
export function partsSql(
  filter: UsageFilter,
  unit: ChartUnit | 'all',
  dimensions: string,
  names: string,
  parameters: Parameters,
): string {
  const [from, to] = [parameters.time(filter.from), parameters.time(filter.to)];
  const at = unit === 'minute' ? `date_trunc('minute', c.created_at)` : slotAt('c.created_at');
  const time = (moment: string): string => (unit === 'all' ? 'NULL::timestamptz' : moment);
  const ofCalls = conditions(filter, parameters);
  const places = names.split(',').map((_, index) => index + 2);
  const fromCalls = (bounds: string) => `
      SELECT ${time(at)} AS at, ${dimensions}, count(*) AS calls,
             count(*) FILTER (WHERE call_result(c.status, c.error_reason, c.billing_basis) IN ('refused', 'failed', 'timeout')),
             coalesce(sum(c.cost), 0)::bigint, coalesce(sum(c.prompt_tokens), 0)::bigint,
             coalesce(sum(c.cached_tokens), 0)::bigint, coalesce(sum(c.completion_tokens), 0)::bigint
        FROM calls c WHERE ${bounds}${ofCalls} GROUP BY 1, ${places.join(', ')}`;
  const columns = `parts (at, ${names}, calls, failed, cost, prompt, cached, completion)`;
  if (unit === 'minute' || !areSummedUp(filter, dimensions))
    return `${columns} AS (${fromCalls(`c.created_at >= ${from} AND c.created_at < ${to}`)})`;
  const until = `(SELECT summed_until FROM usage_sums WHERE account_id = ${parameters.add(filter.accountId)})`;
  const ofSlots = conditions(filter, parameters, 'c.result');
  return `
    slots AS MATERIALIZED (
      SELECT begin, greatest(begin, least(${slotAt(to)}, coalesce(${until}, '-infinity'))) AS "end"
        FROM (SELECT ${slotAfter(from)} AS begin) s
    ), ${columns} AS (
      SELECT ${time('c.slot')}, ${dimensions}, sum(c.calls)::bigint,
             coalesce(sum(c.calls) FILTER (WHERE c.result IN ('refused', 'failed', 'timeout')), 0)::bigint,
             sum(c.cost)::bigint, sum(c.prompt_tokens)::bigint, sum(c.cached_tokens)::bigint,
             sum(c.completion_tokens)::bigint
        FROM usage_slots c
       WHERE c.slot >= (SELECT begin FROM slots) AND c.slot < (SELECT "end" FROM slots)${ofSlots}
       GROUP BY 1, ${places.join(', ')}
      UNION ALL ${fromCalls(`c.created_at >= ${from} AND c.created_at < least(${to}, (SELECT begin FROM slots))`)}
      UNION ALL ${fromCalls(`c.created_at >= (SELECT "end" FROM slots) AND c.created_at < ${to}`)}
    )`;
}

/** The sums are those of single accounts, and know neither channels nor what upstreams answered. */
const areSummedUp = (filter: UsageFilter, dimensions: string): boolean =>
  filter.accountId !== undefined &&
  filter.requestId === undefined &&
  !ofFinished(filter) &&
  !dimensions.includes('c.channel');
