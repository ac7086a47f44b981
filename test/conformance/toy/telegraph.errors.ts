import { errorHeaders, messageWithId, type RenderedError } from '../../../src/call/index.js';
import type { AppError, ErrorKind } from '../../../src/shared/index.js';

const STATUSES: Readonly<Record<ErrorKind, number>> = {
  invalid_token: 401,
  permission_denied: 403,
  insufficient_quota: 402,
  invalid_request: 400,
  context_length_exceeded: 400,
  model_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  upgrade_required: 426,
  conflict: 409,
  request_too_large: 413,
  request_timeout: 408,
  unsupported_media_type: 415,
  rate_limit_exceeded: 429,
  server_is_overloaded: 503,
  unavailable: 503,
  shutting_down: 503,
  upstream_error: 502,
  upstream_auth: 502,
  upstream_truncated: 502,
  timeout: 504,
  internal: 500,
  context_canceled: 499,
};

/** An error as an HTTP answer. */
export function renderTelegraphError(error: AppError, requestId: string): RenderedError {
  const status = STATUSES[error.kind];
  return { status, headers: errorHeaders(error, status), body: wireError(error, requestId) };
}

interface WireError {
  readonly error: { readonly status: number; readonly message: string; readonly param: string | null };
  readonly [name: string]: WireError['error'];
}

/** What went wrong, as the body of an answer or an event of a stream. */
export const wireError = (error: AppError, requestId: string): WireError => ({
  error: {
    status: STATUSES[error.kind],
    message: messageWithId(error.message, requestId),
    param: error.details.param ?? null,
  },
});
