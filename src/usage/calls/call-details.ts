import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { Transport } from '../../protocols/contract/index.js';
import type { Query } from '../time-limited-reads.js';
import type { CallOwner } from '../usage-filter.js';
import { CallLookup } from './call-lookup.js';
import { ACCOUNT_NAME, MEMBER_NAME, type RecordedCall } from './recorded-call.js';

/** A request to an upstream. Times in ms since its start; null: did not happen. */
export interface CallAttempt {
  readonly ordinal: number;
  /** This and the following members, down to the cost, are for administrators only. */
  readonly channel: string;
  readonly credential: number | null;
  readonly upstreamModel: string;
  readonly upstreamStatus: number | null;
  /** The upstream's request ID; empty if none. */
  readonly upstreamRequestId: string;
  /** Null: not recorded. */
  readonly transport: Transport | null;
  /** Upstream cost; null: unknown. */
  readonly upstreamCost: Nanos | null;
  /** `succeeded`, `cancelled`, or the kind of error. */
  readonly outcome: string;
  /** Error message as clients see it, else empty. */
  readonly reason: string;
  /** Ms since the call's start; null in calls of earlier releases. */
  readonly begunMs: number | null;
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

/** The key of a call in its current state. */
interface CallKey {
  readonly name: string;
  readonly hint: string;
  /** Whether the viewer owns it and it was not deleted. */
  readonly changeable: boolean;
}

/** The prices that a call was admitted under. */
interface CallPrices {
  readonly validFrom: Date;
  /** Number of the model's price version. */
  readonly version: number;
}

export interface CallDetails {
  readonly call: RecordedCall;
  readonly attempts: readonly CallAttempt[];
  readonly key: CallKey | undefined;
  readonly prices: CallPrices | undefined;
  /** Of a call of an organization; undefined: of a service key, or of a person. */
  readonly member: string | undefined;
  readonly team: string | undefined;
}

interface CallHolders {
  readonly member: string | null;
  readonly team: string | null;
}

type StoredAttempt = Omit<CallAttempt, 'upstreamCost'> & { readonly upstreamCost: string | null };

const ATTEMPTS = `
  SELECT ordinal, channel, credential, upstream_model AS "upstreamModel", upstream_status AS "upstreamStatus", outcome,
         upstream_request_id AS "upstreamRequestId", upstream_cost AS "upstreamCost", transport, reason,
         begun_ms AS "begunMs", connect_ms AS "connectMs", headers_ms AS "headersMs", first_byte_ms AS "firstByteMs",
         first_token_ms AS "firstTokenMs", duration_ms AS "durationMs"
    FROM call_attempts WHERE call_id = $1 AND created_at = $2::timestamptz ORDER BY ordinal`;

const KEY = `
  SELECT name, hint, state <> 'deleted' AND account_id = $2 AND ($3::text IS NULL OR member_id = $3) AS changeable
    FROM api_keys WHERE id = $1`;

const HOLDERS = `
  SELECT (SELECT ${MEMBER_NAME} FROM members m JOIN accounts p ON p.id = m.account_id WHERE m.id = $1) AS member,
         (SELECT t.name FROM teams t WHERE t.id = $2) AS team`;

const PRICES = `
  SELECT valid_from AS "validFrom", number AS version FROM price_versions WHERE id = $1`;

/** Everything known about a call, including its key and prices. */
@Injectable()
export class CallDetailsReader {
  constructor(
    private readonly calls: CallLookup,
    private readonly dataSource: DataSource,
  ) {}

  /** @throws CallNotFound */
  async find(owner: CallOwner | undefined, callId: string): Promise<CallDetails> {
    const call = await this.calls.find(owner, callId);
    const [attempts, [key], [prices], [holders]] = await Promise.all([
      this.dataSource.query<StoredAttempt[]>(ATTEMPTS, [call.id, call.createdAt.toISOString()]),
      this.dataSource.query<CallKey[]>(KEY, [call.keyId, owner?.accountId ?? null, owner?.memberId ?? null]),
      this.dataSource.query<CallPrices[]>(PRICES, [call.snapshot?.price_version ?? '']),
      this.dataSource.query<CallHolders[]>(HOLDERS, [call.memberId, call.teamId]),
    ]);
    const { member, team } = holders ?? {};
    return {
      call,
      attempts: attempts.map(attemptOf),
      key,
      prices,
      member: member ?? undefined,
      team: team ?? undefined,
    };
  }
}

const attemptOf = (row: StoredAttempt): CallAttempt => ({
  ...row,
  upstreamCost: row.upstreamCost === null ? null : nanos(BigInt(row.upstreamCost)),
});

/** Details of a call in the log for administrators only. */
export interface CallBackground {
  readonly accountId: string;
  /** Email address; empty if the account was deleted. */
  readonly account: string;
  /** Status of the last upstream response; null: none. */
  readonly upstreamStatus: number | null;
  /** Upstream cost of the call; null: unknown. */
  readonly upstreamCost: Nanos | null;
}

interface DetailsRow {
  readonly id: string;
  readonly accountId: string;
  readonly account: string;
  readonly upstreamStatus: number | null;
  readonly upstreamCost: string | null;
}

/** By IDs and times of a page of calls, to read few partitions. */
const BACKGROUNDS = `
  SELECT asked.id, c.account_id AS "accountId", coalesce(${ACCOUNT_NAME}, '') AS account,
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

/** By call ID. */
export async function callBackgrounds(
  query: Query,
  calls: readonly { readonly id: string; readonly createdAt: Date }[],
): Promise<ReadonlyMap<string, CallBackground>> {
  if (calls.length === 0) return new Map();
  const rows = await query<DetailsRow>(BACKGROUNDS, [
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
