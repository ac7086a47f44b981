import { type AppError, type ErrorKind, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  classifyUpstream,
  errorHeaders,
  messageWithId,
  objectsIn,
  type RenderedError,
  type UpstreamHeaders,
} from '../contract/index.js';

// Google's errors: `{ error: { code, message, status, details: [{ '@type', … }] } }`, alone or in a list.
// https://google.aip.dev/193, https://ai.google.dev/gemini-api/docs/troubleshooting

/** HTTP status by name, for errors without a number. */
const STATUSES: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

/** @param body parsed if JSON, else text */
export function classifyGeminiError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
  const error = errorIn(body);
  if (error === undefined) return classifyUpstream(status, headers, body);
  const delay = retryDelayOf(error);
  const withDelay =
    delay !== undefined && headers['retry-after'] === undefined ? { ...headers, 'retry-after': delay } : headers;
  return classifyUpstream(status, withDelay, { error: standardMessage(status, error) });
}

/** Classifies an error within a 200 response. */
export function innerError(body: JsonObject): AppError {
  const { code, status } = errorIn(body) ?? {};
  const number = typeof code === 'number' && code >= 400 && code <= 599 ? code : STATUSES[String(status)];
  return classifyGeminiError(number ?? 500, {}, body);
}

function errorIn(body: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isJsonObject(first) ? first['error'] : undefined;
  return isJsonObject(error) ? error : undefined;
}

const BAD_KEY = /^(?:API_KEY|ACCESS_TOKEN|CREDENTIALS?|ACCOUNT)_/;
/** Location or billing restrictions of the upstream account. */
const BAD_PLACE = /^user location is not supported|^gemini api free tier is not available/i;
const UNKNOWN_MODEL = /^models\/\S+ is not found/i;
/** As worded by the Gemini API and Vertex AI. */
const TOO_LONG = /input token count.{0,40}(?:exceeds the maximum|only supports up to)/is;

/** Maps the error to common codes, since Google has few. */
function standardMessage(status: number, error: JsonObject): JsonObject {
  const message = typeof error['message'] === 'string' ? error['message'] : '';
  const reasons = objectsIn(error['details']).map(({ reason }) => (typeof reason === 'string' ? reason : ''));
  // Quota errors per day and per minute have the same message; these details mean per minute.
  if (status === 429 && isQuota(error)) return {};
  if (reasons.some((reason) => BAD_KEY.test(reason)) || BAD_PLACE.test(message))
    return { message, code: 'invalid_api_key' };
  if (UNKNOWN_MODEL.test(message)) return { message, code: 'model_not_found' };
  if (TOO_LONG.test(message)) return { message, code: 'context_length_exceeded' };
  return { message };
}

const isQuota = (error: JsonObject): boolean =>
  objectsIn(error['details']).some(({ '@type': type }) => /\.(?:RetryInfo|QuotaFailure)$/.test(String(type)));

/** `34s` or `0.5s` as in `retry-after`. */
function retryDelayOf(error: JsonObject): string | undefined {
  const delays = objectsIn(error['details']).map(
    ({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay))?.[1],
  );
  return delays.find((delay) => delay !== undefined);
}

// Errors for clients.

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
  kind === 'context_length_exceeded' && !TOO_LONG.test(message)
    ? `The input token count exceeds the maximum number of tokens allowed: ${message}`
    : message;
