import type { AdmissionRequest } from '../../src/billing/admission.js';
import type { AttemptRow, CallRow } from '../../src/billing/call-row.js';
import { newId } from '../../src/shared/index.js';

/** What asks to hold exactly so much, unless said otherwise. */
export const admissionOf = (
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
  amount: bigint,
  overrides: Partial<AdmissionRequest> = {},
): AdmissionRequest => ({
  id: newId('req', Date.now()),
  created_at: new Date().toISOString(),
  account_id: accountId,
  key_id: keyId,
  key_version: 1,
  catalog_version: '1',
  process_id: 'prs_test',
  model: 'm',
  group_name: 'default',
  protocol: 'responses',
  stream: false,
  effort: '',
  ip: '',
  snapshot: '{}',
  prompt: '0',
  minimum: amount.toString(),
  base: amount.toString(),
  ceiling: amount.toString(),
  ...overrides,
});

/** The call's row as a success leaves it. */
export const finished = (
  request: Pick<AdmissionRequest, 'id' | 'created_at' | 'account_id' | 'key_id'>,
  cost: bigint,
  overrides: Partial<CallRow> = {},
): CallRow => ({
  id: request.id,
  created_at: request.created_at,
  account_id: request.account_id,
  key_id: request.key_id,
  model: 'm',
  group_name: 'default',
  protocol: 'responses',
  upstream_protocol: 'responses',
  channel: 'c',
  stream: false,
  effort: '',
  status: 'succeeded',
  error_reason: '',
  error_message: '',
  prompt_tokens: 1,
  cached_tokens: 0,
  cache_write_tokens: 0,
  completion_tokens: 1,
  reasoning_tokens: 0,
  cost: cost.toString(),
  billing_basis: 'reported',
  first_token_ms: null,
  duration_ms: 1,
  attempts: 1,
  ip: '',
  snapshot: '{}',
  lines: '[]',
  opened: true,
  tries: [],
  ...overrides,
});

/** The only attempt of a call, which succeeded. */
export const attemptOf = (
  request: Pick<AdmissionRequest, 'id' | 'created_at'>,
  overrides: Partial<AttemptRow> = {},
): AttemptRow => ({
  call_id: request.id,
  ordinal: 1,
  created_at: request.created_at,
  channel: 'c',
  protocol: 'responses',
  upstream_model: 'up',
  upstream_status: 200,
  outcome: 'succeeded',
  headers_ms: 3,
  first_token_ms: null,
  duration_ms: 9,
  credential: 1,
  reason: '',
  begun_ms: 2,
  connect_ms: 1,
  first_byte_ms: 3,
  ...overrides,
});
