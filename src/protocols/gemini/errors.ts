import type { AppError, ErrorKind, JsonObject } from '../../platform/shared/index.js';
import { errorHeaders, GOOGLE_TOO_LONG, messageWithId, type RenderedError } from '../contract/index.js';

// Google's errors. https://google.aip.dev/193

interface GeminiErrorRow {
  readonly code: number;
  readonly status: string;
}

const invalid = (code: number): GeminiErrorRow => ({ code, status: 'INVALID_ARGUMENT' });
const internal = (code: number): GeminiErrorRow => ({ code, status: 'INTERNAL' });
const UNAVAILABLE: GeminiErrorRow = { code: 503, status: 'UNAVAILABLE' };
const NOT_FOUND: GeminiErrorRow = { code: 404, status: 'NOT_FOUND' };

const ROWS: Readonly<Record<ErrorKind, GeminiErrorRow>> = {
  invalid_token: { code: 401, status: 'UNAUTHENTICATED' },
  permission_denied: { code: 403, status: 'PERMISSION_DENIED' },
  // Clients repeat requests after a 429.
  insufficient_quota: { code: 402, status: 'RESOURCE_EXHAUSTED' },
  invalid_request: invalid(400),
  context_length_exceeded: invalid(400),
  model_not_found: NOT_FOUND,
  not_found: NOT_FOUND,
  method_not_allowed: { code: 405, status: 'UNIMPLEMENTED' },
  upgrade_required: { code: 426, status: 'UNIMPLEMENTED' },
  conflict: { code: 409, status: 'ABORTED' },
  request_too_large: invalid(413),
  request_timeout: { code: 408, status: 'DEADLINE_EXCEEDED' },
  unsupported_media_type: invalid(415),
  rate_limit_exceeded: { code: 429, status: 'RESOURCE_EXHAUSTED' },
  server_is_overloaded: UNAVAILABLE,
  unavailable: UNAVAILABLE,
  shutting_down: UNAVAILABLE,
  upstream_error: internal(502),
  upstream_auth: internal(502),
  upstream_truncated: internal(502),
  timeout: { code: 504, status: 'DEADLINE_EXCEEDED' },
  internal: internal(500),
  context_canceled: { code: 499, status: 'CANCELLED' },
};

export function renderGeminiError(error: AppError, requestId: string): RenderedError {
  const { code } = ROWS[error.kind];
  const headers = errorHeaders(error, code);
  return { status: code, headers, body: errorBody(error, requestId, headers['retry-after']) };
}

/** Also the last event of a failed stream: clients throw on `error`. */
export const geminiErrorBody = (error: AppError, requestId: string): JsonObject =>
  errorBody(error, requestId, errorHeaders(error, ROWS[error.kind].code)['retry-after']);

function errorBody(error: AppError, requestId: string, retryAfter: string | undefined): JsonObject {
  const { code, status } = ROWS[error.kind];
  const message = messageWithId(messageOf(error), requestId);
  return { error: { code, message, status, details: detailsOf(error, requestId, retryAfter) } };
}

const TYPE = 'type.googleapis.com/google.rpc.';

function detailsOf({ kind, message, details }: AppError, requestId: string, retryAfter?: string): JsonObject[] {
  const reason = kind === 'invalid_token' ? 'API_KEY_INVALID' : kind.toUpperCase();
  const violation = { field: details.param, description: message };
  return [
    { '@type': `${TYPE}ErrorInfo`, reason, domain: 'switchboard' },
    ...(details.param === undefined ? [] : [{ '@type': `${TYPE}BadRequest`, fieldViolations: [violation] }]),
    ...(retryAfter === undefined ? [] : [{ '@type': `${TYPE}RetryInfo`, retryDelay: `${retryAfter}s` }]),
    { '@type': `${TYPE}RequestInfo`, requestId },
  ];
}

/** Clients match this text. */
const messageOf = ({ kind, message }: AppError): string =>
  kind === 'context_length_exceeded' && !GOOGLE_TOO_LONG.test(message)
    ? `The input token count exceeds the maximum number of tokens allowed: ${message}`
    : message;
