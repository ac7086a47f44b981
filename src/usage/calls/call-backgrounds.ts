import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { Query } from '../time-limited-reads.js';

/** What operators see of a call in the log beside what its owner sees. */
export interface CallBackground {
  readonly accountId: string;
  /** Its email address; empty: there is none any more. */
  readonly account: string;
  /** What the upstream of the last attempt answered; null: nothing, or none was asked. */
  readonly upstreamStatus: number | null;
  /** What the upstreams take for the call; null: unknown, or not yet. */
  readonly upstreamCost: Nanos | null;
}

interface Row {
  readonly id: string;
  readonly accountId: string;
  readonly account: string;
  readonly upstreamStatus: number | null;
  readonly upstreamCost: string | null;
}

/** By the ids and times of a page of calls, so that the rest of their partitions is left alone. */
const BACKGROUNDS = `
  SELECT asked.id, c.account_id AS "accountId", coalesce(a.email, '') AS account,
         t.upstream_status AS "upstreamStatus", c.upstream_cost AS "upstreamCost"
    FROM unnest($1::text[], $2::timestamptz[]) AS asked (id, at)
   CROSS JOIN LATERAL (
      (SELECT account_id, upstream_cost FROM calls WHERE id = asked.id AND created_at = asked.at)
       UNION ALL
      (SELECT account_id, NULL FROM open_calls WHERE id = asked.id)
       LIMIT 1) c
    LEFT JOIN LATERAL (
      SELECT upstream_status FROM call_attempts
       WHERE call_id = asked.id AND created_at = asked.at ORDER BY ordinal DESC LIMIT 1) t ON true
    LEFT JOIN accounts a ON a.id = c.account_id`;

/** By the ids of the calls. */
export async function callBackgrounds(
  query: Query,
  calls: readonly { readonly id: string; readonly createdAt: Date }[],
): Promise<ReadonlyMap<string, CallBackground>> {
  if (calls.length === 0) return new Map();
  const rows = await query<Row>(BACKGROUNDS, [
    calls.map(({ id }) => id),
    calls.map(({ createdAt }) => createdAt.toISOString()),
  ]);
  return new Map(
    rows.map(({ id, upstreamCost, ...row }) => [
      id,
      { ...row, upstreamCost: upstreamCost === null ? null : nanos(BigInt(upstreamCost)) },
    ]),
  );
}
