/**
 * All errors that are raised on purpose. The set is closed: each protocol has a table `Record<ErrorKind, …>`, so a new
 * kind does not compile until every protocol renders it.
 */
export type ErrorKind =
  | 'invalid_token'
  | 'permission_denied'
  | 'insufficient_quota'
  | 'invalid_request'
  | 'context_length_exceeded'
  | 'model_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'upgrade_required'
  | 'conflict'
  | 'request_too_large'
  | 'request_timeout'
  | 'unsupported_media_type'
  | 'rate_limit_exceeded'
  | 'server_is_overloaded'
  | 'unavailable'
  | 'shutting_down'
  | 'upstream_error'
  | 'upstream_auth'
  | 'upstream_truncated'
  | 'timeout'
  | 'internal'
  | 'context_canceled';

/** The kind of error in a field; protocols render it as `code`. */
export type FieldErrorCode =
  | 'invalid_value'
  | 'unsupported_parameter'
  | 'missing_required_parameter'
  | 'previous_response_not_found'
  | 'websocket_connection_limit_reached'
  | 'websocket_stream_limit_reached';

/** Details beside the message; each protocol renders those it has a field for. */
export interface ErrorDetails {
  /** Path of the invalid request field, as the client wrote it: `messages[0].content`. */
  readonly param?: string;
  /** Only with `invalid_request`. Default: `invalid_value`. */
  readonly fault?: FieldErrorCode;
  /** Stored instead of the message, which may quote the request: set for messages written by an upstream. */
  readonly record?: string;
  /** When a retry may succeed, in seconds. Sent as `Retry-After`, at most 60. */
  readonly retryAfterSeconds?: number;
  /** Overrides the kind's default for `x-should-retry`. */
  readonly shouldRetry?: boolean;
  /** True if another channel may serve the call; set when an upstream failure is classified. */
  readonly failover?: boolean;
  /** True when the relay's account at the upstream has none left. Never shown to the client. */
  readonly outOfMoney?: boolean;
  /** True when only this request exceeds the upstream's limits; others may succeed. Never shown to the client. */
  readonly ofRequest?: boolean;
  /** True when the upstream knows no model of that name: it may serve others. Never shown to the client. */
  readonly unknownModel?: boolean;
  /** HTTP status of the upstream that failed, for the attempt's record. Never shown to the client. */
  readonly upstreamStatus?: number;
}

/**
 * An error raised on purpose. The message says what happened and what to do. Modules subclass it to name their errors.
 */
export class AppError extends Error {
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }

  /** Any thrown value as an AppError; unexpected ones become `internal`, with the cause kept for the log. */
  static from(thrown: unknown): AppError {
    if (thrown instanceof AppError) return thrown;
    return new AppError('internal', 'The relay failed to handle this request.', {}, { cause: thrown });
  }
}

/** Phrases that users search for; other kinds appear in the usage log under their own name. */
const REASONS: Partial<Record<ErrorKind, string>> = {
  invalid_token: 'Invalid token',
  insufficient_quota: 'insufficient quota',
  context_canceled: 'context canceled',
};

/** The reason in the usage log for an error of this kind. */
export function errorReason(kind: ErrorKind): string {
  return REASONS[kind] ?? kind;
}

/** The error message that is stored and logged. */
export const recordedMessage = ({ message, details }: AppError): string => details.record ?? message;

/** The message of any thrown value, in one line. For aggregate errors (a host with several addresses), the first. */
export function reasonOf(thrown: unknown): string {
  if (!isJsonObject(thrown)) return String(thrown);
  const { message, errors, name } = thrown;
  if (!message && Array.isArray(errors)) return reasonOf(errors[0]);
  return String(message || name)
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ');
}

/** The error code of Node or PostgreSQL; empty if there is none. */
export function codeOf(thrown: unknown): string {
  return isJsonObject(thrown) && typeof thrown['code'] === 'string' ? thrown['code'] : '';
}

/** A parsed JSON object whose members are not yet known. */
export type JsonObject = { readonly [name: string]: unknown };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
