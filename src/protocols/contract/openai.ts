import type { LimitStatus, LimitStatuses } from '../../platform/limits/index.js';
import type { AppError, ErrorKind, JsonObject } from '../../platform/shared/index.js';
import { countIn, hasAny, irregularIn, type TokenUsage, withParts } from './call.js';
import { objectIn } from './json-text.js';
import type { RenderedError } from './protocol-adapter.js';
import type { OutputFormat } from './translation/content.js';
import type { TreeReader } from './translation/json-tree.js';
import { UpstreamRefusal } from './upstream-request.js';

// Errors shared by Responses and Chat Completions.

interface OpenAiErrorRow {
  readonly status: number;
  readonly type: string;
  /** Null if the protocol has none. */
  readonly code: string | null;
}

/** The `error` object; clients expect all four members. */
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

export function renderOpenAiError(error: AppError, requestId: string): RenderedError {
  const { status } = ROWS[error.kind];
  return { status, headers: errorHeaders(error, status), body: { error: openAiErrorBody(error, requestId) } };
}

/** The error of a body or a stream event. */
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

const MINUTE_S = 60;

/** Remaining limits as OpenAI's headers. */
export const renderOpenAiLimits = ({ requests, tokens }: LimitStatuses): Record<string, string> => ({
  ...headersOf('requests', requests),
  ...headersOf('tokens', tokens),
});

function headersOf(what: string, status: LimitStatus | undefined): Record<string, string> {
  if (status === undefined) return {};
  return {
    [`x-ratelimit-limit-${what}`]: String(status.limit),
    [`x-ratelimit-remaining-${what}`]: String(status.remaining),
    [`x-ratelimit-reset-${what}`]: durationText(status.resetMs),
  };
}

/** `6m0s`, `1s`, `120ms`; rounded up. */
function durationText(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < MINUTE_S ? `${seconds}s` : `${Math.floor(seconds / MINUTE_S)}m${seconds % MINUTE_S}s`;
}

/** Retrying the same request would fail again. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 426]);
/** Max `Retry-After` for clients. One vendor's SDK honors any number and blocks its program. */
export const MAX_RETRY_AFTER_SECONDS = 60;
const REQUEST_ID = '(request id: ';

/**
 * Error headers of all protocols, except the request ID.
 * @param status rendered status
 */
export function errorHeaders(error: AppError, status: number): Record<string, string> {
  const headers: Record<string, string> = {};
  const shouldRetry = shouldRetryOf(error, status);
  if (shouldRetry !== undefined) headers['x-should-retry'] = String(shouldRetry);
  const seconds = retryAfterOf(error);
  if (seconds !== undefined) headers['retry-after'] = String(seconds);
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="switchboard"';
  return headers;
}

/** Ends the message with the request ID, and removes one added by an upstream. */
export function messageWithId(message: string, requestId: string): string {
  const own = message.trimEnd();
  const suffix = own.endsWith(')') ? own.lastIndexOf(REQUEST_ID) : -1;
  return `${suffix < 0 ? own : own.slice(0, suffix).trimEnd()} ${REQUEST_ID}${requestId})`;
}

/** Undefined leaves the decision to the status. */
function shouldRetryOf(error: AppError, status: number): boolean | undefined {
  if (error.details.shouldRetry !== undefined) return error.details.shouldRetry;
  if (error.kind === 'insufficient_quota' || FINAL_STATUSES.has(status)) return false;
  return undefined;
}

function retryAfterOf(error: AppError): number | undefined {
  const seconds = error.details.retryAfterSeconds ?? (error.kind === 'rate_limit_exceeded' ? 1 : undefined);
  if (seconds === undefined) return undefined;
  return Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS);
}

/** HTTP status by kind of error, for pages and for protocols without their own. */
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

// Output formats of both OpenAI protocols, which differ in where the schema is.

/** @param schemaIn reads the schema */
export function openAiFormat(
  format: TreeReader | undefined,
  schemaIn: (format: TreeReader) => OutputFormat,
): OutputFormat {
  if (format === undefined) return { kind: 'text' };
  switch (format.word('type')) {
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return schemaIn(format);
    default:
      throw format.malformed('type', 'must be "text", "json_object" or "json_schema"');
  }
}

/** Undefined without a schema. */
export function openAiSchema(format: TreeReader): OutputFormat | undefined {
  const schema = format.raw('schema');
  if (schema === undefined) return undefined;
  return {
    kind: 'schema',
    schema,
    name: format.string('name'),
    strict: format.boolean('strict'),
    description: format.string('description'),
  };
}

interface UsageNames {
  readonly input: string;
  readonly output: string;
}

/** Reported usage; undefined if there is none. Input includes cached tokens. @param names members with the totals */
export function openAiUsage(usage: JsonObject | undefined, names: UsageNames): TokenUsage | undefined {
  if (!hasAny(usage, names.input, names.output)) return undefined;
  const input = objectIn(usage, `${names.input}_details`);
  const output = objectIn(usage, `${names.output}_details`);
  const written = countIn(input, 'cache_write_tokens') ?? 0;
  const written12h = countIn(objectIn(input, 'cache_write_tokens_details'), 'ttl_12h_tokens') ?? 0;
  return withParts({
    input: countIn(usage, names.input) ?? 0,
    cacheRead: countIn(input, 'cached_tokens') ?? 0,
    cacheWrite: Math.max(0, written - written12h),
    cacheWrite1h: 0,
    output: countIn(usage, names.output) ?? 0,
    reasoning: countIn(output, 'reasoning_tokens') ?? 0,
    ...(written12h > 0 && { cacheWrite12h: written12h }),
    ...positiveCount('imageInput', input, 'image_tokens'),
    ...positiveCount('audioInput', input, 'audio_tokens'),
    ...positiveCount('audioOutput', output, 'audio_tokens'),
    ...irregularIn(usage, names),
  });
}

function positiveCount(
  name: 'imageInput' | 'audioInput' | 'audioOutput',
  details: JsonObject,
  member: string,
): Partial<TokenUsage> {
  const count = countIn(details, member) ?? 0;
  return count > 0 ? { [name]: count } : {};
}
