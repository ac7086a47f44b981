import { errorHeaders, messageWithId, renderSse, UpstreamRefusal, type RenderedError } from '../../call/index.js';
import type { AppError, ErrorKind, JsonObject } from '../../shared/index.js';

interface MessagesErrorRow {
  readonly status: number;
  readonly type: string;
}

const ROWS: Readonly<Record<ErrorKind, MessagesErrorRow>> = {
  invalid_token: { status: 401, type: 'authentication_error' },
  permission_denied: { status: 403, type: 'permission_error' },
  insufficient_quota: { status: 402, type: 'billing_error' },
  invalid_request: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  model_not_found: { status: 404, type: 'not_found_error' },
  not_found: { status: 404, type: 'not_found_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'request_too_large' },
  request_timeout: { status: 408, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  server_is_overloaded: { status: 529, type: 'overloaded_error' },
  unavailable: { status: 503, type: 'overloaded_error' },
  shutting_down: { status: 529, type: 'overloaded_error' },
  upstream_error: { status: 500, type: 'api_error' },
  upstream_auth: { status: 502, type: 'api_error' },
  upstream_truncated: { status: 500, type: 'api_error' },
  timeout: { status: 504, type: 'timeout_error' },
  internal: { status: 500, type: 'api_error' },
  context_canceled: { status: 499, type: 'api_error' },
};

/** An error as an HTTP answer of Messages. */
export function renderMessagesError(error: AppError, requestId: string): RenderedError {
  const { status } = ROWS[error.kind];
  return { status, headers: errorHeaders(error, status), body: errorBody(error, requestId) };
}

/** The same inside a stream; the event's name is what clients of this dialect look for. */
export function renderMessagesErrorEvent(error: AppError, requestId: string): Uint8Array {
  return renderSse('error', JSON.stringify(errorBody(error, requestId)));
}

function errorBody(error: AppError, requestId: string): JsonObject {
  return {
    type: 'error',
    error: {
      type: ROWS[error.kind].type,
      message: messageWithId(wordsOf(error), requestId),
      ...(error instanceof UpstreamRefusal && error.code !== undefined && { details: { error_code: error.code } }),
    },
    request_id: requestId,
  };
}

/** The dialect has no place for the field at fault but the message, and starts it so itself: `max_tokens: …`. */
function wordsOf(error: AppError): string {
  const { param } = error.details;
  if (error.kind === 'invalid_request' && param !== undefined && !error.message.includes(param))
    return `${param}: ${error.message}`;
  // The words that clients of this dialect look for.
  if (error.kind === 'context_length_exceeded' && !error.message.startsWith('prompt is too long')) {
    return `prompt is too long: ${error.message}`;
  }
  return error.message;
}
