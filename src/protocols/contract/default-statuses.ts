import type { ErrorKind } from '../../platform/shared/index.js';

/** What HTTP has for each kind of error: for pages, and for dialects whose vendor says nothing else. */
export const DEFAULT_STATUSES: Readonly<Record<ErrorKind, number>> = {
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
