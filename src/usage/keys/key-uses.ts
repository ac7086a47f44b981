import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nanos, type Nanos } from '../../platform/shared/index.js';
import { hasFailed, isRefused, resultOf } from '../calls/recorded-call.js';
import type { Span } from '../rollups/traffic-reader.js';
import { type Query, TimeLimitedReads } from '../time-limited-reads.js';
import { type CallOwner, ownedBy, Parameters } from '../usage-filter.js';

/** A key of an account, whose other keys show no usage; with a member, only their calls are used. */
export interface UsedKey extends CallOwner {
  readonly id: string;
}

/** Totals of a group of finished calls of a key. */
export interface UsesOf {
  /** An address or a model; empty if unknown. */
  readonly name: string;
  readonly calls: number;
  readonly refused: number;
  /** Including timed-out calls. */
  readonly failed: number;
  readonly cost: Nanos;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** Usage in a period by address or by model. */
export interface KeyUses {
  /** Most calls first. */
  readonly rows: readonly UsesOf[];
  /** The total of everything without a row; undefined: nothing. */
  readonly others: Omit<UsesOf, 'name'> | undefined;
}

/** By address and model. */
export interface UseOfModel extends Omit<UsesOf, 'name'> {
  /** Empty if unknown; `others` for addresses with very few of many calls. */
  readonly ip: string;
  readonly model: string;
  /** Input and output, as far as known. */
  readonly tokens: number;
}

const hourOf = (moment: string): string => `date_bin('1 hour', ${moment}, '2000-01-01 00:00:00+00')`;
const hourAfter = (moment: string): string => hourOf(`${moment} + interval '1 hour' - interval '1 microsecond'`);

/** Addresses without a row of their own in an hour. */
const OTHERS = 'others';

type KeyUseRow = Omit<UsesOf, 'cost' | 'calls' | 'refused' | 'failed'> &
  Readonly<Record<'calls' | 'refused' | 'failed' | 'cost', string>>;
type ModelUseRow = Omit<UseOfModel, 'cost'> & { readonly cost: string };

/** Usage of keys up to the last finished call: from rollups (`key_uses`) as far as they go, else from the calls. */
@Injectable()
export class KeyUsesReader {
  /** @param most max rows; the rest is combined */
  async by(query: Query, dimension: 'address' | 'model', key: UsedKey, span: Span, most: number): Promise<KeyUses> {
    const parameters = new Parameters();
    const all = parameters.add(most, 'integer');
    const rows = await query<KeyUseRow>(
      `WITH ${usesSql(key, span, parameters)}, grouped AS (
         SELECT ${dimension} AS name, sum(calls) AS calls, sum(refused) AS refused, sum(failed) AS failed, sum(cost) AS cost,
                min(first_at) AS first_at, max(last_at) AS last_at,
                row_number() OVER (ORDER BY ${dimension} = '${OTHERS}', sum(calls) DESC, max(last_at) DESC, ${dimension}) AS place
           FROM uses GROUP BY 1 HAVING sum(calls) > 0
       )
       SELECT CASE WHEN place <= ${all} THEN name ELSE '${OTHERS}' END AS name, sum(calls) AS calls, sum(refused) AS refused,
              sum(failed) AS failed, sum(cost) AS cost, min(first_at) AS "firstAt", max(last_at) AS "lastAt"
         FROM grouped GROUP BY 1 ORDER BY min(place)`,
      parameters.values,
    );
    const uses = rows.map(usesOf);
    return {
      rows: uses.filter(({ name }) => name !== OTHERS),
      others: uses.find(({ name }) => name === OTHERS),
    };
  }

  /** Most calls first. */
  async byAddressAndModel(query: Query, key: UsedKey, span: Span, most: number): Promise<readonly UseOfModel[]> {
    const parameters = new Parameters();
    const limit = parameters.add(most, 'integer');
    const rows = await query<ModelUseRow>(
      `WITH ${usesSql(key, span, parameters)}
       SELECT address AS ip, model, sum(calls)::float8 AS calls, sum(refused)::float8 AS refused, sum(failed)::float8 AS failed,
              sum(tokens)::float8 AS tokens, sum(cost)::text AS cost, min(first_at) AS "firstAt", max(last_at) AS "lastAt"
         FROM uses GROUP BY 1, 2 HAVING sum(calls) > 0
        ORDER BY address = '${OTHERS}', calls DESC, "lastAt" DESC, 1, 2 LIMIT ${limit}`,
      parameters.values,
    );
    return rows.map((row) => ({ ...row, cost: nanos(BigInt(row.cost)) }));
  }

  /** Cost of each whole hour with calls, in UTC. */
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

/** The CTE "uses": rolled-up hours come from rollups, everything else from the calls; no call counts twice. */
function usesSql(key: UsedKey, span: Span, parameters: Parameters): string {
  const [from, to] = [parameters.time(span.from), parameters.time(span.to)];
  const own = `(SELECT id FROM api_keys WHERE id = ${parameters.add(key.id)} AND account_id = ${parameters.add(key.accountId)})`;
  const fromCalls = (bounds: string): string => `
      SELECT ${hourOf('c.created_at')}, c.ip, c.model, count(*), count(*) FILTER (WHERE ${isRefused(resultOf('c'))}),
             count(*) FILTER (WHERE ${hasFailed(resultOf('c'))}), sum(c.cost)::bigint,
             sum(coalesce(c.prompt_tokens, 0) + coalesce(c.completion_tokens, 0))::bigint,
             min(c.created_at), max(c.created_at)
        FROM calls c WHERE c.key_id = ${own} AND ${bounds} GROUP BY 1, 2, 3`;
  // Rollups have no members.
  if (key.memberId !== undefined)
    return `uses (hour, address, model, calls, refused, failed, cost, tokens, first_at, last_at) AS (
      ${fromCalls(`c.created_at >= ${from} AND c.created_at < ${to} AND ${ownedBy('c', key, parameters)}`)})`;
  return `
    hours AS MATERIALIZED (
      SELECT begin, greatest(begin, least(${hourOf(to)}, (SELECT summed_until FROM key_use_sums))) AS "end"
        FROM (SELECT ${hourAfter(from)} AS begin) s
    ), uses (hour, address, model, calls, refused, failed, cost, tokens, first_at, last_at) AS (
      -- The column also counts refused calls.
      SELECT u.hour, u.address, u.model, u.calls, u.refused, u.failed - u.refused, u.cost, u.tokens, u.first_at, u.last_at
        FROM key_uses u
       WHERE u.key_id = ${own} AND u.hour >= (SELECT begin FROM hours) AND u.hour < (SELECT "end" FROM hours)
      UNION ALL ${fromCalls(`c.created_at >= ${from} AND c.created_at < least(${to}, (SELECT begin FROM hours))`)}
      UNION ALL ${fromCalls(`c.created_at >= (SELECT "end" FROM hours) AND c.created_at < ${to}`)}
    )`;
}

const usesOf = ({ calls, refused, failed, cost, ...row }: KeyUseRow): UsesOf => ({
  ...row,
  calls: Number(calls),
  refused: Number(refused),
  failed: Number(failed),
  cost: nanos(BigInt(cost)),
});

/** All calls, including running ones. */
export interface RecentUse {
  readonly callsSince: number;
  readonly callsInDay: number;
  /** Including calls that were dropped since. */
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

/** Recent usage of a key, so that its owner can check it. */
@Injectable()
export class KeyUse {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly uses: KeyUsesReader,
  ) {}

  /**
   * @param since start of `callsSince`
   * @throws RangeTooLarge
   */
  async recent({ accountId, id }: UsedKey, since: Date): Promise<RecentUse> {
    const [row] = await this.reads.read((query) => query<RecentRow>(RECENT, [accountId, id, since]));
    return { callsSince: row?.since ?? 0, callsInDay: row?.day ?? 0, lastAt: row?.last ?? undefined };
  }

  /** Most calls first, without running calls. @throws RangeTooLarge */
  byAddress(key: UsedKey, span: Span, most: number): Promise<readonly UseOfModel[]> {
    return this.reads.read((query) => this.uses.byAddressAndModel(query, key, span, most));
  }
}

/** Calls younger than this are not rolled up, so that running calls need no special care. */
const BEHIND_MS = 2 * 60 * 60 * 1000;

/** Updates the rollups of key usage (`key_uses`) in the background. */
@Injectable()
export class KeyUseRollups {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Rolls up some hours in a transaction of its own, which late calls wait for. Concurrent steps are serialized.
   * @returns whether everything is rolled up for now
   */
  async step(): Promise<boolean> {
    const [row] = await this.dataSource.query<{ done: boolean }[]>(
      `SELECT sum_up_key_uses() > now() - make_interval(secs => $1) AS done`,
      [BEHIND_MS / 1000],
    );
    return row?.done ?? false;
  }
}
