import { AppError, type ErrorKind, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  errorHeaders,
  messageWithId,
  type RenderedError,
  sseText,
  stringOf,
  UpstreamRefusal,
} from '../contract/index.js';

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

/** With these details, clients send the whole conversation. */
export class ThreadNotFound extends AppError {
  readonly wireDetails = { error_code: 'thread_not_found' };

  /** @param thread as in the request */
  constructor(thread: unknown) {
    const id = isJsonObject(thread) ? stringOf(thread['previous_message_id']) : '';
    super('not_found', `thread: no thread found with id ${JSON.stringify(id.slice(0, 128))}.`, { param: 'thread' });
  }
}

/** What a thread keeps would run again without being priced and checked. Clients send the whole conversation instead. */
export class NotInThread extends AppError {
  readonly wireDetails;

  /** @param param a member that threads do not support, or a part of it */
  constructor(param: string) {
    const [member = param] = param.split(/[.[]/);
    super('invalid_request', `${param}: not supported in threads. Send the whole conversation without "thread".`, {
      param,
      fault: 'unsupported_parameter',
    });
    this.wireDetails = { error_code: 'thread_unsupported_request', unsupported: [member] };
  }
}

/** @param param source of the budget */
export function unaffordableThinking(affordable: number, param: string, budget: number): AppError {
  const message = `insufficient quota: the remaining credit covers ${affordable} output tokens, all of which ${param} (${budget}) would use. Lower it or add credit.`;
  return new AppError('insufficient_quota', message, { param });
}

export function renderMessagesError(error: AppError, requestId: string): RenderedError {
  const { status } = ROWS[error.kind];
  return { status, headers: errorHeaders(error, status), body: errorBody(error, requestId) };
}

/** Clients recognize the event by its name. */
export function renderMessagesErrorEvent(error: AppError, requestId: string): string {
  return sseText('error', JSON.stringify(errorBody(error, requestId)));
}

function errorBody(error: AppError, requestId: string): JsonObject {
  return {
    type: 'error',
    error: {
      type: ROWS[error.kind].type,
      message: messageWithId(messageOf(error), requestId),
      ...detailsOf(error),
    },
    request_id: requestId,
  };
}

function detailsOf(error: AppError): { readonly details?: JsonObject } {
  if ('wireDetails' in error && isJsonObject(error.wireDetails)) return { details: error.wireDetails };
  return error instanceof UpstreamRefusal && error.code !== undefined ? { details: { error_code: error.code } } : {};
}

/** The protocol has no member for the parameter; messages begin with it: `max_tokens: …`. */
function messageOf(error: AppError): string {
  const { param } = error.details;
  if (error.kind === 'invalid_request' && param !== undefined && !error.message.includes(param))
    return `${param}: ${error.message}`;
  // Clients match this text.
  if (error.kind === 'context_length_exceeded' && !error.message.startsWith('prompt is too long')) {
    return `prompt is too long: ${error.message}`;
  }
  return error.message;
}
