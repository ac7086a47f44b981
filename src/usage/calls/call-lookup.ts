import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, idTime, nanos, type Nanos } from '../../platform/shared/index.js';
import { type CostLine, type RecordedCall, resultOf } from './recorded-call.js';
import { CallNotFound } from '../usage.errors.js';

/** Rejects IDs with a time too far ahead of any clock, some of which the database cannot represent. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;

type Count = 'promptTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'completionTokens' | 'reasoningTokens';
type Amount = 'cost' | 'uncollected' | 'held';

/** Eight-byte integers are read as text. */
type Row = Omit<RecordedCall, Count | Amount | 'lines'> &
  Readonly<Record<Count | Amount, string | null>> & { readonly lines: readonly CostLine[] | null };

/** One statement sees one moment: a call that is being settled is found in one of the two tables. */
const FIND = `
  SELECT id, created_at AS "createdAt", model, group_name AS "group", protocol,
         upstream_protocol AS "upstreamProtocol", stream, effort, status,
         error_reason AS "errorReason", prompt_tokens AS "promptTokens", cached_tokens AS "cachedTokens",
         cache_write_tokens AS "cacheWriteTokens", completion_tokens AS "completionTokens",
         reasoning_tokens AS "reasoningTokens", cost, uncollected, 0::bigint AS held, billing_basis AS "billingBasis",
         lines, snapshot, first_token_ms AS "firstTokenMs", duration_ms AS "durationMs", attempts,
         key_id AS "keyId", channel, error_message AS "errorMessage", ip,
         ${resultOf('calls')} AS result, hold_begun_ms AS "holdBegunMs", hold_ms AS "holdMs",
         settle_wait_ms AS "settleWaitMs", waits, upstream_report AS "upstreamReport"
    FROM calls
   -- The time inside the id, so that one partition is read.
   WHERE id = $1 AND created_at = $2::timestamptz AND ($3::text IS NULL OR account_id = $3)
   UNION ALL
  SELECT id, created_at, model, group_name, protocol, '', stream, effort, 'open', '', NULL, NULL, NULL, NULL, NULL,
         NULL, NULL, hold, NULL, NULL, snapshot, NULL, NULL, NULL, key_id, '', '', ip, 'open',
         NULL, NULL, NULL, NULL, NULL
    FROM open_calls
   WHERE id = $1 AND ($3::text IS NULL OR account_id = $3)`;

/** Looks up a call by the ID in its response. */
@Injectable()
export class CallLookup {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * @param accountId undefined: any account
   * @throws CallNotFound, also for calls of other accounts
   */
  async find(accountId: string | undefined, callId: string): Promise<RecordedCall> {
    const notFound = (): CallNotFound => new CallNotFound(callId, accountId === undefined);
    const time = callId.startsWith('req_') ? idTime(callId) : undefined;
    if (time === undefined || time > this.clock.now() + MAX_AHEAD_MS) throw notFound();
    const createdAt = new Date(time).toISOString();
    const rows = await this.dataSource.query<Row[]>(FIND, [callId, createdAt, accountId ?? null]);
    // A settled call may still have a hold to be released: prefer the finished row.
    const row = rows.find(({ status }) => status !== 'open') ?? rows[0];
    if (row === undefined) throw notFound();
    return recordedCall(row);
  }
}

const recordedCall = (row: Row): RecordedCall => ({
  ...row,
  promptTokens: count(row.promptTokens),
  cachedTokens: count(row.cachedTokens),
  cacheWriteTokens: count(row.cacheWriteTokens),
  completionTokens: count(row.completionTokens),
  reasoningTokens: count(row.reasoningTokens),
  cost: amount(row.cost),
  uncollected: amount(row.uncollected),
  held: amount(row.held) ?? nanos(0n),
  lines: row.lines ?? [],
});

const count = (text: string | null): number | null => (text === null ? null : Number(text));
const amount = (text: string | null): Nanos | null => (text === null ? null : nanos(BigInt(text)));
