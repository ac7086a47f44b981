import { Injectable } from '@nestjs/common';
import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { Query } from '../time-limited-reads.js';
import { Parameters } from '../usage-filter.js';
import { WITHOUT_DIMENSIONS } from './usage-levels.js';
import { partsSql, slotAfter, slotAt, SUMMED_UNTIL } from './usage-parts.js';

/** What an account's finished calls of one day came to. */
export interface UsageDay {
  /** Midnight, where the day is. */
  readonly start: Date;
  readonly calls: number;
  readonly tokens: number;
  /** That most was spent on; of free ones the one with the most calls. */
  readonly topModel: string;
  readonly cost: Nanos;
}

type DayRow = Pick<UsageDay, 'start' | 'topModel'> & Readonly<Record<'calls' | 'tokens' | 'cost', string>>;

/** What an account's calls cost, by day and from one moment to the next. */
@Injectable()
export class UsageDays {
  /** Days with calls that begin in `from <= time < to`, newest first. */
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

  /** When the last call before a moment began; undefined: there is none. */
  async lastBefore(query: Query, accountId: string, moment: Date): Promise<Date | undefined> {
    const [row] = await query<{ at: Date }>(LAST_BEFORE, [accountId, moment.toISOString()]);
    return row?.at;
  }

  /** When the first call began; undefined: there is none. */
  async first(query: Query, accountId: string): Promise<Date | undefined> {
    const [row] = await query<{ at: Date }>(FIRST, [accountId]);
    return row?.at;
  }

  /** What calls cost that began in each of these spans (`from <= time < to`), in the order of the spans. */
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

/** Quarters of an hour outlive their calls. Of each level by itself the index tells the last one, and the first. */
const ofLevels = (slot: string): string => `${slot.replace('?', 'all')} UNION ALL ${slot.replace('?', 'few')}`;

const LAST_BEFORE = `
  SELECT max(at) AS at FROM (
    (SELECT created_at AS at FROM calls WHERE account_id = $1 AND created_at < $2::timestamptz ORDER BY created_at DESC LIMIT 1)
    UNION ALL
    ${ofLevels(`(SELECT slot FROM usage_slots WHERE account_id = $1 AND level = '?' AND slot < $2::timestamptz
                  ORDER BY slot DESC LIMIT 1)`)}
  ) t HAVING max(at) IS NOT NULL`;

const FIRST = `
  SELECT min(at) AS at FROM (
    (SELECT created_at AS at FROM calls WHERE account_id = $1 ORDER BY created_at LIMIT 1)
    UNION ALL
    ${ofLevels(`(SELECT slot FROM usage_slots WHERE account_id = $1 AND level = '?' ORDER BY slot LIMIT 1)`)}
  ) t HAVING min(at) IS NOT NULL`;

const COSTS = `
  SELECT (SELECT coalesce(sum(c.cost), 0) FROM usage_slots c
           WHERE c.account_id = $1 AND ${WITHOUT_DIMENSIONS} AND c.slot >= b.first AND c.slot < b.last)
       + (SELECT coalesce(sum(c.cost), 0) FROM calls c
           WHERE c.account_id = $1 AND c.created_at >= s.begin AND c.created_at < least(b.first, s.finish))
       + (SELECT coalesce(sum(c.cost), 0) FROM calls c
           WHERE c.account_id = $1 AND c.created_at >= b.last AND c.created_at < s.finish) AS cost
    FROM unnest($2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS s (begin, finish, place),
      LATERAL (SELECT ${slotAfter('s.begin')} AS first, greatest(${slotAfter('s.begin')},
        least(${slotAt('s.finish')}, ${SUMMED_UNTIL})) AS last) b
   ORDER BY s.place`;
