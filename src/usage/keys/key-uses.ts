import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nanos, type Nanos } from '../../platform/shared/index.js';
import { hasFailed, resultOf } from '../calls/recorded-call.js';
import type { Span } from '../sums/traffic-reader.js';
import { type Query, TimeLimitedReads } from '../time-limited-reads.js';
import { Parameters } from '../usage-filter.js';

/** One key of an account; another account's key has no use that could be seen. */
export interface UsedKey {
  readonly accountId: string;
  readonly id: string;
}

/** What finished calls of a key have in common, and what they come to. */
export interface UsesOf {
  /** An address, or a model; empty when it was not recorded. */
  readonly name: string;
  readonly calls: number;
  /** Of these calls, those that were refused, failed or timed out. */
  readonly failed: number;
  readonly cost: Nanos;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** Everything of a span, by one of the two. */
export interface KeyUses {
  /** Most calls first. */
  readonly rows: readonly UsesOf[];
  /** All that has no row of its own; undefined: everything has one. */
  readonly others: Omit<UsesOf, 'name'> | undefined;
}

/** Of an address and a model together. */
export interface UseOfModel extends Omit<UsesOf, 'name' | 'failed'> {
  /** Empty when it was not recorded; `others` for those that very few calls of many came from. */
  readonly ip: string;
  readonly model: string;
  /** Of these calls, those that were refused before they cost anything. */
  readonly refused: number;
  /** All input and all output, as far as they are known. */
  readonly tokens: number;
}

const hourOf = (moment: string): string => `date_bin('1 hour', ${moment}, '2000-01-01 00:00:00+00')`;
const hourAfter = (moment: string): string => hourOf(`${moment} + interval '1 hour' - interval '1 microsecond'`);

/** What stands for the addresses that have no row of their own in an hour. */
const OTHERS = 'others';

type Row = Omit<UsesOf, 'cost' | 'calls' | 'failed'> & Readonly<Record<'calls' | 'failed' | 'cost', string>>;
type ModelRow = Omit<UseOfModel, 'cost'> & { readonly cost: string };

/**
 * What a key was used for: to the last finished call, whatever part of them has been summed up before (`key_uses`) and
 * whatever part is read call by call.
 */
@Injectable()
export class KeyUsesReader {
  /** @param most so many rows; the rest is one */
  async by(query: Query, dimension: 'address' | 'model', key: UsedKey, span: Span, most: number): Promise<KeyUses> {
    const parameters = new Parameters();
    const all = parameters.add(most, 'integer');
    const rows = await query<Row>(
      `WITH ${usesSql(key, span, parameters)}, grouped AS (
         SELECT ${dimension} AS name, sum(calls) AS calls, sum(failed) AS failed, sum(cost) AS cost,
                min(first_at) AS first_at, max(last_at) AS last_at,
                row_number() OVER (ORDER BY ${dimension} = '${OTHERS}', sum(calls) DESC, max(last_at) DESC, ${dimension}) AS place
           FROM uses GROUP BY 1 HAVING sum(calls) > 0
       )
       SELECT CASE WHEN place <= ${all} THEN name ELSE '${OTHERS}' END AS name, sum(calls) AS calls, sum(failed) AS failed,
              sum(cost) AS cost, min(first_at) AS "firstAt", max(last_at) AS "lastAt"
         FROM grouped GROUP BY 1 ORDER BY min(place)`,
      parameters.values,
    );
    const uses = rows.map(usesOf);
    return {
      rows: uses.filter(({ name }) => name !== OTHERS),
      others: uses.find(({ name }) => name === OTHERS),
    };
  }

  /** Where most calls came from first. */
  async byAddressAndModel(query: Query, key: UsedKey, span: Span, most: number): Promise<readonly UseOfModel[]> {
    const parameters = new Parameters();
    const limit = parameters.add(most, 'integer');
    const rows = await query<ModelRow>(
      `WITH ${usesSql(key, span, parameters)}
       SELECT address AS ip, model, sum(calls)::float8 AS calls, sum(refused)::float8 AS refused,
              sum(tokens)::float8 AS tokens, sum(cost)::text AS cost, min(first_at) AS "firstAt", max(last_at) AS "lastAt"
         FROM uses GROUP BY 1, 2 HAVING sum(calls) > 0
        ORDER BY address = '${OTHERS}', calls DESC, "lastAt" DESC, 1, 2 LIMIT ${limit}`,
      parameters.values,
    );
    return rows.map((row) => ({ ...row, cost: nanos(BigInt(row.cost)) }));
  }

  /** What calls cost in each whole hour of a span that has any, in UTC. */
  async costsByHour(query: Query, key: UsedKey, span: Span): Promise<readonly Nanos[]> {
    const parameters = new Parameters();
    const rows = await query<{ cost: string }>(
      `WITH ${usesSql(key, span, parameters)}
       SELECT sum(cost) AS cost FROM uses GROUP BY hour HAVING sum(calls) > 0`,
      parameters.values,
    );
    return rows.map(({ cost }) => nanos(BigInt(cost)));
  }
}

/** The CTE "uses": whole hours that are summed up come from there, the rest from the calls: every call is in one of the two. */
function usesSql(key: UsedKey, span: Span, parameters: Parameters): string {
  const [from, to] = [parameters.time(span.from), parameters.time(span.to)];
  const own = `(SELECT id FROM api_keys WHERE id = ${parameters.add(key.id)} AND account_id = ${parameters.add(key.accountId)})`;
  const fromCalls = (bounds: string): string => `
      SELECT ${hourOf('c.created_at')}, c.ip, c.model, count(*), count(*) FILTER (WHERE c.status = 'refused'),
             count(*) FILTER (WHERE ${hasFailed(resultOf('c'))}), sum(c.cost)::bigint,
             sum(coalesce(c.prompt_tokens, 0) + coalesce(c.completion_tokens, 0))::bigint,
             min(c.created_at), max(c.created_at)
        FROM calls c WHERE c.key_id = ${own} AND ${bounds} GROUP BY 1, 2, 3`;
  return `
    hours AS MATERIALIZED (
      SELECT begin, greatest(begin, least(${hourOf(to)}, (SELECT summed_until FROM key_use_sums))) AS "end"
        FROM (SELECT ${hourAfter(from)} AS begin) s
    ), uses (hour, address, model, calls, refused, failed, cost, tokens, first_at, last_at) AS (
      SELECT u.hour, u.address, u.model, u.calls, u.refused, u.failed, u.cost, u.tokens, u.first_at, u.last_at
        FROM key_uses u
       WHERE u.key_id = ${own} AND u.hour >= (SELECT begin FROM hours) AND u.hour < (SELECT "end" FROM hours)
      UNION ALL ${fromCalls(`c.created_at >= ${from} AND c.created_at < least(${to}, (SELECT begin FROM hours))`)}
      UNION ALL ${fromCalls(`c.created_at >= (SELECT "end" FROM hours) AND c.created_at < ${to}`)}
    )`;
}

const usesOf = ({ calls, failed, cost, ...row }: Row): UsesOf => ({
  ...row,
  calls: Number(calls),
  failed: Number(failed),
  cost: nanos(BigInt(cost)),
});

/** Calls of every outcome, running ones too. */
export interface RecentUse {
  readonly callsSince: number;
  readonly callsInDay: number;
  /** Of all calls, those that are not kept any more among them. */
  readonly lastAt: Date | undefined;
}

interface RecentRow {
  readonly since: number;
  readonly day: number;
  readonly last: Date | null;
}

const RECENT = `
  SELECT sum(u.since)::int AS since, sum(u.day)::int AS day, max(u.last) AS last
    FROM (
      SELECT count(*) FILTER (WHERE created_at >= $3) AS since,
             count(*) FILTER (WHERE created_at >= now() - interval '1 day') AS day, NULL::timestamptz AS last
        FROM calls
       WHERE key_id = $2 AND account_id = $1 AND created_at >= least($3, now() - interval '1 day')
       UNION ALL
      SELECT 0, 0, (SELECT created_at FROM calls WHERE key_id = $2 AND account_id = $1 ORDER BY created_at DESC LIMIT 1)
       UNION ALL
      SELECT 0, 0, (SELECT max(last_at) FROM dropped_calls WHERE key_id = $2 AND account_id = $1)
       UNION ALL
      SELECT count(*) FILTER (WHERE created_at >= $3),
             count(*) FILTER (WHERE created_at >= now() - interval '1 day'), max(created_at)
        FROM open_calls
       WHERE account_id = $1 AND key_id = $2) u`;

/** What a key was used for, so that its owner can tell whether it was they. */
@Injectable()
export class KeyUse {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly uses: KeyUsesReader,
  ) {}

  /**
   * @param since from when on `callsSince` counts
   * @throws RangeTooLarge
   */
  async recent({ accountId, id }: UsedKey, since: Date): Promise<RecentUse> {
    const [row] = await this.reads.read((query) => query<RecentRow>(RECENT, [accountId, id, since]));
    return { callsSince: row?.since ?? 0, callsInDay: row?.day ?? 0, lastAt: row?.last ?? undefined };
  }

  /** What it was used for, where most calls came from first. Running calls are not counted. @throws RangeTooLarge */
  byAddress(key: UsedKey, span: Span, most: number): Promise<readonly UseOfModel[]> {
    return this.reads.read((query) => this.uses.byAddressAndModel(query, key, span, most));
  }
}

/** The youngest calls that are summed up are older than this, so that those that run are in no hurry. */
const BEHIND_MS = 2 * 60 * 60 * 1000;

/** Keeps the sums of what keys were used for (`key_uses`) up to date: for whoever does so in the background. */
@Injectable()
export class KeyUseRollups {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Sums up some hours more, in a transaction of its own: a late call waits for no longer. Two at once wait for each other.
   * @returns whether nothing is left to be summed up for now
   */
  async step(): Promise<boolean> {
    const [row] = await this.dataSource.query<{ done: boolean }[]>(
      `SELECT sum_up_key_uses() > now() - make_interval(secs => $1) AS done`,
      [BEHIND_MS / 1000],
    );
    return row?.done ?? false;
  }
}
