import type { AppError, ErrorKind, JsonObject } from '../../platform/shared/index.js';
import { errorHeaders, messageWithId } from './error-headers.js';
import type { RenderedError } from './protocol-adapter.js';
import { UpstreamRefusal } from './upstream-refusal.js';

// What Responses and Chat Completions have in common: both are one vendor's, and their errors are the same.

interface OpenAiErrorRow {
  readonly status: number;
  readonly type: string;
  /** Null where the dialect has no word for it. */
  readonly code: string | null;
}

/** The object under `error`: clients of these dialects expect all four members, always. */
interface OpenAiErrorBody extends JsonObject {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

const request = (status: number, code: string | null): OpenAiErrorRow => ({
  status,
  type: 'invalid_request_error',
  code,
});
const server = (status: number, code: string | null): OpenAiErrorRow => ({ status, type: 'server_error', code });

const ROWS: Readonly<Record<ErrorKind, OpenAiErrorRow>> = {
  invalid_token: request(401, 'invalid_api_key'),
  permission_denied: { status: 403, type: 'permission_error', code: 'permission_denied' },
  insufficient_quota: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  invalid_request: request(400, 'invalid_value'),
  context_length_exceeded: request(400, 'context_length_exceeded'),
  model_not_found: request(404, 'model_not_found'),
  not_found: request(404, null),
  method_not_allowed: request(405, null),
  upgrade_required: request(426, null),
  conflict: request(409, null),
  request_too_large: request(413, 'request_too_large'),
  request_timeout: request(408, null),
  unsupported_media_type: request(415, null),
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  server_is_overloaded: server(503, 'server_is_overloaded'),
  unavailable: server(503, 'server_is_overloaded'),
  shutting_down: server(503, 'server_is_overloaded'),
  upstream_error: server(502, 'upstream_error'),
  upstream_auth: server(502, 'upstream_auth'),
  upstream_truncated: server(502, 'upstream_truncated'),
  timeout: server(504, 'timeout'),
  internal: server(500, null),
  context_canceled: server(499, 'context_canceled'),
};

/** An error as an HTTP answer of Responses and Chat Completions. */
export function renderOpenAiError(error: AppError, requestId: string): RenderedError {
  const { status } = ROWS[error.kind];
  return { status, headers: errorHeaders(error, status), body: { error: openAiErrorBody(error, requestId) } };
}

/** The object that says what went wrong, for the body of an answer or an event of a stream. */
export function openAiErrorBody(error: AppError, requestId: string): OpenAiErrorBody {
  const row = ROWS[error.kind];
  return {
    message: messageWithId(error.message, requestId),
    type: row.type,
    param: error.details.param ?? (error.kind === 'model_not_found' ? 'model' : null),
    code: codeOf(error, row),
  };
}

function codeOf(error: AppError, row: OpenAiErrorRow): string | null {
  if (error.kind !== 'invalid_request') return row.code;
  const upstreamCode = error instanceof UpstreamRefusal ? error.code : undefined;
  return upstreamCode ?? error.details.fault ?? row.code;
}
