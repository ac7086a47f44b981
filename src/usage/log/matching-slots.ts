import { conditions, type Parameters, type UsageFilter } from '../usage-filter.js';
import type { LogStart } from './log-start.js';
import { slotsOf } from '../sums/usage-levels.js';
import { slotAt, SUMMED_UNTIL } from '../sums/usage-parts.js';

/** Dropped calls have sums, and are on no page. */
const KEPT_FROM = `(SELECT coalesce((max(month) + interval '1 month') AT TIME ZONE 'UTC', '-infinity') FROM dropped_calls)`;

/**
 * The CTE "matching": quarters of an hour with calls of a filter, as many of them as a page of so many calls needs, from
 * where it begins on. So a page of the few calls of a rare model is found without reading all others. Undefined: the
 * filter is of no kind that the sums know, or of none at all, when every call is of the page.
 */
export function matchingSlots(
  filter: UsageFilter,
  start: LogStart,
  limit: number,
  parameters: Parameters,
): string | undefined {
  const { model, keyId, group, channel, result } = filter;
  const slots = slotsOf(filter, []);
  if (slots === undefined || (model ?? keyId ?? group ?? channel ?? result) === undefined) return undefined;
  const order = start !== undefined && 'after' in start ? 'ASC' : 'DESC';
  // The first one may have calls that are not of the page, and is not counted; the last one may be the page's in part.
  return `
    matching AS MATERIALIZED (
      SELECT slot FROM (
        SELECT slot, sum(calls) OVER in_order - calls - first_value(calls) OVER in_order AS passed
          FROM (
            SELECT c.slot, sum(c.calls) AS calls FROM usage_slots c
             WHERE ${slots} AND c.slot >= greatest(${slotAt(parameters.time(filter.from))}, ${KEPT_FROM})
               AND c.slot < least(${parameters.time(filter.to)}, ${SUMMED_UNTIL})${behind(start, parameters)}
               ${conditions(filter, parameters, 'c.result')}
             GROUP BY 1 HAVING sum(c.calls) > 0) s
        WINDOW in_order AS (ORDER BY slot ${order})) s
       WHERE passed < ${parameters.add(limit, 'integer')}
    )`;
}

function behind(start: LogStart, parameters: Parameters): string {
  if (start === undefined) return '';
  const [sign, [at]] = 'after' in start ? (['>=', start.after] as const) : (['<=', start.before] as const);
  return ` AND c.slot ${sign} ${slotAt(parameters.time(at))}`;
}
