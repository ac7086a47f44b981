import {
  AppError,
  type ErrorDetails,
  type ErrorKind,
  type FieldErrorCode,
  isJsonObject,
  type JsonObject,
} from '../../platform/shared/index.js';
import { errorRecord, type UpstreamErrorDetail } from './error-record.js';
import { type JsonFields, readJsonFields } from './json-fields.js';
import type { JsonInterest } from './json-members.js';
import { objectIn } from './json-text.js';
import { MAX_RETRY_AFTER_SECONDS } from './openai.js';
import type { UpstreamHeaders } from './upstream-adapter.js';
import { UpstreamRefusal } from './upstream-request.js';

const BILLING =
  /insufficient[_ ]quota|billing|credit balance|exceeded your current quota|spend(?:ing)? limit|usage limits/i;
const UNKNOWN_MODEL = /\bmodel\b.{0,120}\b(?:not found|does not exist|not exist)\b|\b(?:unknown|no such) model\b/is;
// Anchored: later parts may quote the client.
const OUT_OF_CREDIT =
  /^(?:your credit balance|billing (?:hard )?limit|you exceeded your current quota|insufficient quota)/i;
// The request alone exceeds the tokens per minute, so waiting does not help.
const TOO_LARGE_FOR_LIMIT = /^request too large\b/i;
// A 403 about content says nothing about the credential.
const BAD_CONTENT =
  /\b(?:input|prompt|request|content|message)\b.{0,80}\bflagged\b|\bmoderation\b|\bcontent[ _]policy\b/is;
const BAD_KEY = /^(?:(?:invalid|incorrect) api key|api key not valid)/i;
const TOO_LONG =
  /context_length_exceeded|maximum context length|prompt is too long|context window|too many (?:input )?tokens/i;
const UNKNOWN_PATH = /^not found$|invalid url|unknown (?:url|route|path)|cannot post /i;

const ERROR_KINDS: Readonly<Record<string, FieldErrorCode>> = {
  unsupported_parameter: 'unsupported_parameter',
  unknown_parameter: 'unsupported_parameter',
  missing_required_parameter: 'missing_required_parameter',
};

/** HTTP status of errors in a 200 response, by code or type. */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_request: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  insufficient_quota: 402,
  usage_not_included: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  server_is_overloaded: 503,
  overloaded_error: 529,
  timeout: 504,
  timeout_error: 504,
};

const CODE = /^[a-z][a-z0-9_.-]{0,63}$/i;
const MAX_PARAM_CHARACTERS = 200;
const MAX_COOLDOWN_SECONDS = 86_400;

/**
 * Classifies an upstream's error: its cause, and whether another channel may respond. Messages are scrubbed; those
 * about our own account are replaced. Upstream text is never stored.
 * @param body parsed if JSON, else text
 */
export function classifyUpstream(status: number, headers: UpstreamHeaders, body: unknown): AppError {
  const detail = readError(body);
  const text = `${detail.type ?? ''} ${detail.code ?? ''} ${detail.message ?? ''}`;
  if (isOutOfCredit(status, detail)) return outOfCredit(status);
  if (isBadCredential(status, detail)) return badCredential(status);
  if (status === 429) return rateLimited(status, headers, detail);
  if (status === 408 || status === 409 || status >= 500) return transient(status, headers, detail);
  if (isRedirect(status) || isUnknownPath(status, detail)) return misconfigured(status);
  if (isUnknownModel(status, detail)) return misconfigured(status, { unknownModel: true });
  if (status >= 400) return rejected(status, detail, text);
  return failoverError('upstream_error', 'The upstream response is invalid.', { upstreamStatus: status });
}

/**
 * Classifies an error within a 200 response.
 * @param body the error, with or without an enclosing object
 */
export function classifyInnerError(body: unknown): AppError {
  const detail = readError(body);
  return classifyUpstream(STATUSES[detail.code ?? ''] ?? STATUSES[detail.type ?? ''] ?? 500, {}, body);
}

/** Reads `{error: {message, type, code, param}}`, `{error: "…"}`, `{message}`, `{detail}` and bare errors. */
function readError(body: unknown): UpstreamErrorDetail {
  if (!isJsonObject(body)) return {};
  const error = body['error'] ?? body;
  if (typeof error === 'string') return { message: error };
  if (!isJsonObject(error)) return {};
  const detail: { -readonly [Key in keyof UpstreamErrorDetail]: string } = {};
  const message = error['message'] ?? error['detail'];
  if (typeof message === 'string') detail.message = message;
  if (isCode(error['type'])) detail.type = error['type'];
  const code = error['code'] ?? objectIn(error, 'details')['error_code'];
  if (isCode(code)) detail.code = code;
  if (typeof error['param'] === 'string' && error['param'] !== '') {
    detail.param = scrub(error['param']).slice(0, MAX_PARAM_CHARACTERS);
  }
  return detail;
}

const isCode = (value: unknown): value is string => typeof value === 'string' && CODE.test(value);

const failoverError = (kind: ErrorKind, message: string, details: ErrorDetails): AppError =>
  new AppError(kind, message, { ...details, failover: true });

function outOfCredit(upstreamStatus: number): AppError {
  const message = 'No upstream can take this request right now. Retry later.';
  return failoverError('server_is_overloaded', message, { upstreamStatus, outOfMoney: true });
}

const badCredential = (upstreamStatus: number): AppError =>
  failoverError('upstream_auth', "The provider rejected this service's credentials. Contact an administrator.", {
    upstreamStatus,
  });

function misconfigured(upstreamStatus: number, what: Pick<ErrorDetails, 'unknownModel'> = {}): AppError {
  const message = 'The upstream does not know the configured model or address. Contact an administrator.';
  return failoverError('upstream_error', message, { upstreamStatus, ...what });
}

function rateLimited(upstreamStatus: number, headers: UpstreamHeaders, detail: UpstreamErrorDetail): AppError {
  if (TOO_LARGE_FOR_LIMIT.test(detail.message ?? '')) {
    const explanation = "This request alone exceeds the upstream's rate limit. Shorten it or lower the output limit.";
    return failoverError('rate_limit_exceeded', explanation, { upstreamStatus, ofRequest: true, shouldRetry: false });
  }
  const retryAfterSeconds = readRetryAfter(headers) ?? 1;
  const shownSeconds = Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS);
  const message = `The upstream's rate limit is reached. Please try again in ${shownSeconds}s.`;
  return failoverError('rate_limit_exceeded', message, { upstreamStatus, retryAfterSeconds });
}

function transient(upstreamStatus: number, headers: UpstreamHeaders, detail: UpstreamErrorDetail): AppError {
  const retryAfterSeconds = readRetryAfter(headers);
  const details = { upstreamStatus, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  if (upstreamStatus === 408 || upstreamStatus === 504 || upstreamStatus === 524) {
    return failoverError('timeout', 'The upstream did not respond in time.', details);
  }
  if (upstreamStatus === 503 || upstreamStatus === 529) {
    return failoverError('server_is_overloaded', 'The upstream is overloaded. Retry later.', details);
  }
  const reason = detail.message === undefined ? '' : scrub(detail.message);
  if (reason === '') return failoverError('upstream_error', 'The upstream failed.', details);
  const record = errorRecord('The upstream failed', upstreamStatus, detail);
  return failoverError('upstream_error', `The upstream failed: ${reason}`, { ...details, record });
}

function isOutOfCredit(status: number, { type = '', code = '', message = '' }: UpstreamErrorDetail): boolean {
  if (status === 429) return BILLING.test(`${type} ${code} ${message}`);
  return status === 402 || (status === 400 && (BILLING.test(`${type} ${code}`) || OUT_OF_CREDIT.test(message)));
}

function isBadCredential(status: number, { type, code, message = '' }: UpstreamErrorDetail): boolean {
  if (status === 400) return [type, code].includes('invalid_api_key') || BAD_KEY.test(message);
  return status === 401 || (status === 403 && !BAD_CONTENT.test(message));
}

/** Redirects are not followed: the target would receive the credential. */
const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** The channel is misconfigured; another one may respond. */
const isUnknownPath = (status: number, { message }: UpstreamErrorDetail): boolean =>
  status === 405 || (status === 404 && (message === undefined || UNKNOWN_PATH.test(message)));

/** The channel's model name is wrong; another channel may respond, and this one may serve other models. */
function isUnknownModel(status: number, detail: UpstreamErrorDetail): boolean {
  const message = detail.message ?? '';
  // Messages reports unknown models like this; with another status the name is malformed.
  if (status === 404 && message.startsWith('model: ')) return true;
  return (status === 404 || status === 400) && (detail.code === 'model_not_found' || UNKNOWN_MODEL.test(message));
}

function rejected(status: number, detail: UpstreamErrorDetail, text: string): AppError {
  const message = detail.message === undefined ? '' : scrub(detail.message);
  const details: ErrorDetails = {
    upstreamStatus: status,
    record: errorRecord('The upstream rejected the request', status, detail),
    ...(detail.param !== undefined && { param: detail.param }),
    ...errorDetail(detail.code),
  };
  const explanation = message === '' ? 'The upstream rejected the request without a reason.' : message;
  return new UpstreamRefusal(rejectionKind(status, text), explanation, details, detail.code);
}

function errorDetail(code: string | undefined): Pick<ErrorDetails, 'fault'> {
  const detail = code === undefined ? undefined : ERROR_KINDS[code];
  return detail === undefined ? {} : { fault: detail };
}

function rejectionKind(status: number, text: string): ErrorKind {
  if (status === 413) return 'request_too_large';
  return TOO_LONG.test(text) ? 'context_length_exceeded' : 'invalid_request';
}

/**
 * Seconds from `retry-after-ms` or `retry-after`; dates are relative to the upstream's own `date`. At most
 * MAX_COOLDOWN_SECONDS; clients see at most MAX_RETRY_AFTER_SECONDS.
 */
function readRetryAfter(headers: UpstreamHeaders): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return bounded(milliseconds / 1000);
  const value = headers['retry-after'];
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return bounded(Number(value));
  const sent = headers['date'];
  const span = Date.parse(value) - (typeof sent === 'string' ? Date.parse(sent) : Number.NaN);
  return Number.isNaN(span) ? undefined : bounded(span / 1000);
}

const bounded = (seconds: number): number => Math.min(Math.max(Math.ceil(seconds), 1), MAX_COOLDOWN_SECONDS);

const MAX_SHOWN_CHARACTERS = 2_000;
/** Read more than is shown, so that no partial secret remains at the end. */
const MAX_READ_CHARACTERS = 2 * MAX_SHOWN_CHARACTERS;

/**
 * Replaced in upstream messages, most specific first. Host names differ from field paths (`messages.0.content`) by
 * their last label.
 */
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"'<>)\]]+/gi, '[address]'],
  [/\bBearer\s+[^\s"',;]+/gi, '[credential]'],
  [/\b(?:sk|pk|rk|gsk|xai)[-_][A-Za-z0-9*_.-]{8,}/g, '[credential]'],
  [/\b(?:AIza|ya29\.)[A-Za-z0-9._-]{10,}/g, '[credential]'],
  [/\b(?:org|proj|wrkspc|acct)[-_][A-Za-z0-9*_-]{3,}/gi, '[organization]'],
  [/\barn:aws[\w-]*:\S+/g, '[resource]'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '[address]'],
  [/\[(?=[^\]]*:[^\]]*:)[0-9a-f:.]{2,45}\](?::\d{1,5})?/gi, '[address]'],
  [/\blocalhost\b(?::\d{1,5})?/gi, '[address]'],
  [/\b[a-z][a-z0-9-]{1,62}:\d{4,5}\b/gi, '[address]'],
  [
    /\b(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|io|ai|dev|cloud|app|us|eu|cn|de|internal|local|svc|lan|test|example|invalid)(?::\d{1,5}|\b)(?:\/[^\s"'<>)\]]*)?/gi,
    '[address]',
  ],
];

/** Removes addresses, credentials and organizations; at most 2,000 characters. */
export function scrub(message: string): string {
  const clean = SECRETS.reduce(
    (text, [pattern, replacement]) => text.replace(pattern, replacement),
    message.slice(0, MAX_READ_CHARACTERS),
  );
  return clean.slice(0, MAX_SHOWN_CHARACTERS).trim();
}

/**
 * Members of a complete response; `error` must be among the interests.
 * @throws AppError when the response is an error in disguise, or not a JSON object
 */
export function readResponseFields(body: Uint8Array, interests: JsonInterest): JsonFields {
  let fields: JsonFields;
  let error: unknown;
  try {
    fields = readJsonFields(body, interests);
    error = fields.value('error');
  } catch (cause) {
    throw invalidResponse(NOT_AN_OBJECT, { cause });
  }
  // Some upstreams always include the member, as null or false.
  if (error) throw classifyInnerError({ error });
  return fields;
}

const NOT_AN_OBJECT = 'a response that is not a JSON object';

/** Parses an unstreamed response. @throws AppError when it is not a JSON object */
export function parseResponse(body: string): JsonObject {
  let response: unknown;
  try {
    response = JSON.parse(body);
  } catch (cause) {
    throw invalidResponse(NOT_AN_OBJECT, { cause });
  }
  if (!isJsonObject(response)) throw invalidResponse(NOT_AN_OBJECT);
  return response;
}

/** @param what the upstream sent */
export const invalidResponse = (what: string, options?: ErrorOptions): AppError =>
  new AppError('upstream_error', `The upstream sent ${what}.`, { failover: true }, options);
