import { Injectable } from '@nestjs/common';
import { nanos, type Nanos } from '../shared/index.js';
import { TimeLimitedReads } from './time-limited-reads.js';

/** One key of an account; another account's key has no use that could be seen. */
interface UsedKey {
  readonly accountId: string;
  readonly id: string;
}

/** Calls of every outcome, running ones too. */
export interface RecentUse {
  readonly callsSince: number;
  readonly callsInDay: number;
  /** Of all calls, those that are not kept any more among them. */
  readonly lastAt: Date | undefined;
}

/** What came from one address for one model. Running calls are not counted: what they come to is not known. */
export interface UseOfModel {
  /** Empty when it was not recorded. */
  readonly ip: string;
  readonly model: string;
  readonly calls: number;
  /** Of these calls, those that were refused before they cost anything. */
  readonly refused: number;
  /** All input and all output, as far as they are known. */
  readonly tokens: number;
  readonly cost: Nanos;
  readonly firstAt: Date;
  readonly lastAt: Date;
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

const BY_ADDRESS = `
  SELECT ip, model, count(*)::int AS calls, count(*) FILTER (WHERE status = 'refused')::int AS refused,
         coalesce(sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), 0)::float8 AS tokens,
         sum(cost)::text AS cost, min(created_at) AS "firstAt", max(created_at) AS "lastAt"
    FROM calls
   WHERE key_id = $2 AND account_id = $1 AND created_at >= $3
   GROUP BY ip, model
   ORDER BY calls DESC, "lastAt" DESC, ip, model
   LIMIT $4`;

/** What a key was used for, so that its owner can tell whether it was they. */
@Injectable()
export class KeyUse {
  constructor(private readonly reads: TimeLimitedReads) {}

  /**
   * @param since from when on `callsSince` counts
   * @throws RangeTooLarge
   */
  async recent({ accountId, id }: UsedKey, since: Date): Promise<RecentUse> {
    const [row] = await this.reads.read((query) => query<RecentRow>(RECENT, [accountId, id, since]));
    return { callsSince: row?.since ?? 0, callsInDay: row?.day ?? 0, lastAt: row?.last ?? undefined };
  }

  /** Where most calls came from first. @throws RangeTooLarge */
  async byAddress({ accountId, id }: UsedKey, since: Date, limit: number): Promise<readonly UseOfModel[]> {
    type Row = Omit<UseOfModel, 'cost'> & { readonly cost: string };
    const rows = await this.reads.read((query) => query<Row>(BY_ADDRESS, [accountId, id, since, limit]));
    return rows.map((row) => ({ ...row, cost: nanos(BigInt(row.cost)) }));
  }
}
