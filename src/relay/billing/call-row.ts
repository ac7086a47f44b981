import type { Caller } from '../../keys/index.js';
import { type AppError, errorReason, recordedMessage } from '../../platform/shared/index.js';
import type { CallTrace, ProtocolId } from '../../protocols/contract/index.js';
import type { BillingBasis, CallStatus } from './ending.js';
import type { PriceSnapshot } from './price-snapshot.js';

/** One request to an upstream: a row of `call_attempts`. Times in milliseconds from its beginning; null: never came. */
export interface AttemptRow {
  readonly call_id: string;
  readonly ordinal: number;
  readonly created_at: string;
  readonly channel: string;
  readonly protocol: string;
  readonly upstream_model: string;
  readonly upstream_status: number | null;
  readonly outcome: string;
  readonly headers_ms: number | null;
  readonly first_token_ms: number | null;
  readonly duration_ms: number;
  /** Which of the channel's, from 1; null when it has none. */
  readonly credential: number | null;
  /** Why it failed, as a client would be told; else empty. */
  readonly reason: string;
  /** Since the call began. */
  readonly begun_ms: number;
  readonly connect_ms: number | null;
  /** Of the body. */
  readonly first_byte_ms: number | null;
  /** By which of the channel's costs it was counted; null: they say nothing of the model. */
  readonly cost_version: string | null;
  /** What the operator owes for it, in nanos; null: unknown. */
  readonly upstream_cost: string | null;
  /** What the upstream calls the request; empty when it did not say. */
  readonly upstream_request_id: string;
}

/** A finished call as settlement writes it: the columns of `calls`, and what moves the money. Amounts in nanos. */
export interface CallRow {
  readonly id: string;
  readonly created_at: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly group_name: string;
  readonly protocol: string;
  readonly upstream_protocol: string;
  readonly channel: string;
  readonly stream: boolean;
  readonly effort: string;
  readonly status: CallStatus;
  readonly error_reason: string;
  readonly error_message: string;
  readonly prompt_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost: string;
  /** What its attempts cost the operator together; null: unknown of at least one. */
  readonly upstream_cost: string | null;
  readonly billing_basis: BillingBasis;
  readonly first_token_ms: number | null;
  readonly duration_ms: number;
  readonly attempts: number;
  readonly ip: string;
  readonly snapshot: PriceSnapshot | null;
  /** The itemised cost, as JSON. */
  readonly lines: string | null;
  /** Whether a hold may have been placed for it: then settlement looks for one to release. */
  readonly opened: boolean;
  readonly tries: readonly AttemptRow[];
  /** From its arrival until its hold was asked for, and from there until that was answered; null: none was. */
  readonly hold_begun_ms: number | null;
  readonly hold_ms: number | null;
  /** From its end until the statement that writes the row is sent; null before it is. */
  readonly settle_wait_ms: number | null;
  /** What its answer stood still for, as JSON of `WaitRecords`; null: nothing. */
  readonly waits: string | null;
  /** What the upstream reported, as JSON with what is to be said of it; null: nothing is, or it reported nothing. */
  readonly upstream_report: string | null;
}

/** A call that was refused before it could be read. */
export interface RefusedCall {
  readonly id: string;
  readonly createdAt: number;
  readonly protocol: ProtocolId;
  readonly ip: string;
  readonly caller: Pick<Caller, 'accountId' | 'keyId' | 'groupName'>;
  readonly startedMs: number;
  readonly trace?: CallTrace | undefined;
}

/** A call that is neither settled nor refused, as it stands in the database. */
export type OpenCall = Pick<
  CallRow,
  'id' | 'created_at' | 'account_id' | 'key_id' | 'model' | 'group_name' | 'protocol' | 'stream' | 'effort' | 'ip'
> & { readonly snapshot: PriceSnapshot };

/** One line of the log for each finished call: never its body, its headers or its key. */
export function callLine(row: CallRow, collected: bigint | undefined, traceId?: string): object {
  return {
    request_id: row.id,
    ...(traceId !== undefined && { trace_id: traceId }),
    key_id: row.key_id,
    model: row.model,
    group: row.group_name,
    channel: row.channel,
    status: row.status,
    ...(row.error_reason !== '' && { reason: row.error_reason }),
    first_token_ms: row.first_token_ms,
    duration_ms: row.duration_ms,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    cost_nanos: (collected ?? 0n).toString(),
  };
}

const NOTHING_CHARGED: Partial<CallRow> = {
  cost: '0',
  billing_basis: 'free',
  prompt_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  completion_tokens: null,
  reasoning_tokens: null,
  lines: null,
};

/**
 * The row of an answer that was complete but not recorded in time. Its client has been told so and has not seen its end:
 * of a stream it has all but that, and pays for it; of an unstreamed answer it has nothing, and pays nothing.
 */
export const unrecordedRow = (row: CallRow, error: AppError): CallRow => ({
  ...row,
  status: 'failed',
  error_reason: errorReason(error.kind),
  error_message: recordedMessage(error),
  ...(row.stream ? { billing_basis: row.billing_basis === 'free' ? 'free' : 'partial' } : NOTHING_CHARGED),
});
