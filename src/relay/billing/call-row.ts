import type { Caller } from '../../keys/index.js';
import { type AppError, errorReason, recordedMessage } from '../../platform/shared/index.js';
import type { CallTrace, ProtocolId } from '../../protocols/contract/index.js';
import type { BillingBasis, CallStatus } from './ending.js';
import type { PriceSnapshot } from './price.js';

/** A row of `call_attempts`. Times in ms since its start; null: did not happen. */
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
  /** Index of the channel's credential, from 1; null if it has none. */
  readonly credential: number | null;
  /** Error message as clients see it, else empty. */
  readonly reason: string;
  /** Ms since the call's start. */
  readonly begun_ms: number;
  readonly connect_ms: number | null;
  /** Of the body. */
  readonly first_byte_ms: number | null;
  /** Version of the channel's costs; null: they do not cover the model. */
  readonly cost_version: string | null;
  /** Upstream cost in nanos; null: unknown. */
  readonly upstream_cost: string | null;
  /** The upstream's request ID; empty if none. */
  readonly upstream_request_id: string;
}

/** A finished call for settlement: the columns of `calls`, and what moves money. Amounts in nanos. */
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
  /** Total cost of its attempts; null: unknown for at least one. */
  readonly upstream_cost: string | null;
  readonly billing_basis: BillingBasis;
  readonly first_token_ms: number | null;
  readonly duration_ms: number;
  readonly attempts: number;
  readonly ip: string;
  readonly snapshot: PriceSnapshot | null;
  /** Cost lines as JSON. */
  readonly lines: string | null;
  /** Whether a hold may exist, which settlement then releases. */
  readonly opened: boolean;
  readonly tries: readonly AttemptRow[];
  /** Ms from arrival until a hold was requested, and until the response to that; null: no hold. */
  readonly hold_begun_ms: number | null;
  readonly hold_ms: number | null;
  /** Ms from its end until the row was sent; null before. */
  readonly settle_wait_ms: number | null;
  /** `WaitRecords` as JSON; null: none. */
  readonly waits: string | null;
  /** The rejected usage report as JSON with its findings; null: none. */
  readonly upstream_report: string | null;
}

/** A call rejected before its body was read. */
export interface RefusedCall {
  readonly id: string;
  readonly createdAt: number;
  readonly protocol: ProtocolId;
  readonly ip: string;
  readonly caller: Pick<Caller, 'accountId' | 'keyId' | 'groupName'>;
  readonly startedMs: number;
  readonly trace?: CallTrace | undefined;
}

/** An unsettled call as stored. */
export type OpenCall = Pick<
  CallRow,
  'id' | 'created_at' | 'account_id' | 'key_id' | 'model' | 'group_name' | 'protocol' | 'stream' | 'effort' | 'ip'
> & { readonly snapshot: PriceSnapshot };

/** The log line of a finished call; never contains body, headers or key. */
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
 * The row of a complete response that was not recorded in time. The client got an error instead of its end: a stream is
 * charged, since all else was delivered; an unstreamed response is free.
 */
export const unrecordedRow = (row: CallRow, error: AppError): CallRow => ({
  ...row,
  status: 'failed',
  error_reason: errorReason(error.kind),
  error_message: recordedMessage(error),
  ...(row.stream ? { billing_basis: row.billing_basis === 'free' ? 'free' : 'partial' } : NOTHING_CHARGED),
});
