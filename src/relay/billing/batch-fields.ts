import type { AdmissionRequest } from './admission.js';
import type { AttemptRow, CallRow } from './call-row.js';

// Batches are passed as arrays of composite types, which migrations define.

/** Fields of the type `admission`, in order. */
export const ADMISSION = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'key_version',
  'catalog_version',
  'process_id',
  'model',
  'group_name',
  'protocol',
  'stream',
  'effort',
  'ip',
  'snapshot',
  'prompt',
  'minimum',
  'base',
  'ceiling',
] as const satisfies readonly (keyof AdmissionRequest)[];

/** Fields of the type `extension`, in order. */
export const EXTENSION = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'process_id',
  'model',
  'group_name',
  'protocol',
  'stream',
  'effort',
  'ip',
  'snapshot',
  'held',
  'want',
] as const satisfies readonly (keyof AdmissionRequest | 'held' | 'want')[];

/** Fields of the type `settlement`, in order. */
export const SETTLEMENT = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'model',
  'group_name',
  'protocol',
  'upstream_protocol',
  'channel',
  'stream',
  'effort',
  'status',
  'error_reason',
  'error_message',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost',
  'billing_basis',
  'first_token_ms',
  'duration_ms',
  'attempts',
  'ip',
  'opened',
  'snapshot',
  'upstream_cost',
  'hold_begun_ms',
  'hold_ms',
  'settle_wait_ms',
  'waits',
  'upstream_report',
] as const satisfies readonly (keyof CallRow)[];

/** Fields of the type `attempt`, in order. */
export const ATTEMPT = [
  'call_id',
  'ordinal',
  'created_at',
  'channel',
  'protocol',
  'upstream_model',
  'upstream_status',
  'outcome',
  'headers_ms',
  'first_token_ms',
  'duration_ms',
  'credential',
  'reason',
  'begun_ms',
  'connect_ms',
  'first_byte_ms',
  'cost_version',
  'upstream_cost',
  'upstream_request_id',
] as const satisfies readonly (keyof AttemptRow)[];
