import { type AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { classifyUpstream, objectsIn, type UpstreamHeaders } from '../contract/index.js';

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
