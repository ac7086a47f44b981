import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { Query } from '../time-limited-reads.js';
import { CallLookup } from './call-lookup.js';
import type { RecordedCall } from './recorded-call.js';

/** One request that a call sent to an upstream. Times in milliseconds from its own start; null: never came. */
export interface CallAttempt {
  readonly ordinal: number;
  /** For operators alone, as is all down to the cost. */
  readonly channel: string;
  readonly credential: number | null;
  readonly upstreamModel: string;
  readonly upstreamStatus: number | null;
  /** What the upstream calls the request; empty when it did not say. */
  readonly upstreamRequestId: string;
  /** What the operator owes for it; null: unknown. */
  readonly upstreamCost: Nanos | null;
  /** `succeeded`, `cancelled`, or the kind of error. */
  readonly outcome: string;
  /** Why it failed, as a client would be told; else empty. */
  readonly reason: string;
  /** Since the call began; null: from before it was recorded. */
  readonly begunMs: number | null;
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

/** The key that a call was made with, as it is now. */
interface CallKey {
  readonly name: string;
  readonly hint: string;
  /** Whoever asks can change it: it is theirs and was not deleted. */
  readonly changeable: boolean;
}

/** Which prices a call was admitted under. */
interface CallPrices {
  readonly validFrom: Date;
  /** The how manieth of the model. */
  readonly version: number;
}

export interface CallDetails {
  readonly call: RecordedCall;
  readonly attempts: readonly CallAttempt[];
  readonly key: CallKey | undefined;
  readonly prices: CallPrices | undefined;
}

type AttemptRow = Omit<CallAttempt, 'upstreamCost'> & { readonly upstreamCost: string | null };

const ATTEMPTS = `
  SELECT ordinal, channel, credential, upstream_model AS "upstreamModel", upstream_status AS "upstreamStatus", outcome,
         upstream_request_id AS "upstreamRequestId", upstream_cost AS "upstreamCost", reason,
         begun_ms AS "begunMs", connect_ms AS "connectMs", headers_ms AS "headersMs", first_byte_ms AS "firstByteMs",
         first_token_ms AS "firstTokenMs", duration_ms AS "durationMs"
    FROM call_attempts WHERE call_id = $1 AND created_at = $2::timestamptz ORDER BY ordinal`;

const KEY = `
  SELECT name, hint, account_id IS NOT DISTINCT FROM $2 AND state <> 'deleted' AS changeable
    FROM api_keys WHERE id = $1`;

const PRICES = `
  SELECT valid_from AS "validFrom", number AS version FROM price_versions WHERE id = $1`;

/** Everything that is known of one call. Reads keys and prices for what stands beside it. */
@Injectable()
export class CallDetailsReader {
  constructor(
    private readonly calls: CallLookup,
    private readonly dataSource: DataSource,
  ) {}

  /** @throws CallNotFound */
  async find(accountId: string | undefined, callId: string): Promise<CallDetails> {
    const call = await this.calls.find(accountId, callId);
    const [attempts, [key], [prices]] = await Promise.all([
      this.dataSource.query<AttemptRow[]>(ATTEMPTS, [call.id, call.createdAt.toISOString()]),
      this.dataSource.query<CallKey[]>(KEY, [call.keyId, accountId ?? null]),
      this.dataSource.query<CallPrices[]>(PRICES, [call.snapshot?.price_version ?? '']),
    ]);
    return { call, attempts: attempts.map(attemptOf), key, prices };
  }
}

const attemptOf = (row: AttemptRow): CallAttempt => ({
  ...row,
  upstreamCost: row.upstreamCost === null ? null : nanos(BigInt(row.upstreamCost)),
});

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
