import { type AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { classifyUpstream, type UpstreamHeaders } from '../contract/index.js';

// Google's errors: `{ error: { code, message, status, details: [{ '@type', … }] } }`, alone or in a list.
// https://google.aip.dev/193, https://ai.google.dev/gemini-api/docs/troubleshooting

/** The status of an error that has no number, by its name. */
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

/** What an upstream's refusal means here. @param body the answer, parsed when it was JSON, else as text */
export function classifyGeminiError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
  const error = errorIn(body);
  if (error === undefined) return classifyUpstream(status, headers, body);
  const delay = retryDelayOf(error);
  const told =
    delay !== undefined && headers['retry-after'] === undefined ? { ...headers, 'retry-after': delay } : headers;
  return classifyUpstream(status, told, { error: standardMessage(status, error) });
}

/** The same for an error within an answer of status 200. */
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
/** The account may not call from where the relay stands, or not without paying: nothing that a client could help. */
const BAD_PLACE = /^user location is not supported|^gemini api free tier is not available/i;
const UNKNOWN_MODEL = /^models\/\S+ is not found/i;
/** As the Gemini API words it, and Vertex AI. */
const TOO_LONG = /input token count.{0,40}(?:exceeds the maximum|only supports up to)/is;

/** The error with the code that other vendors have for it: Google's own are too few to tell them apart. */
function standardMessage(status: number, error: JsonObject): JsonObject {
  const message = typeof error['message'] === 'string' ? error['message'] : '';
  const reasons = detailsOf(error).map(({ reason }) => (typeof reason === 'string' ? reason : ''));
  // The same words are said of a plan that is used up and of a minute that is: these details, of the minute alone.
  if (status === 429 && isQuota(error)) return {};
  if (reasons.some((reason) => BAD_KEY.test(reason)) || BAD_PLACE.test(message))
    return { message, code: 'invalid_api_key' };
  if (UNKNOWN_MODEL.test(message)) return { message, code: 'model_not_found' };
  if (TOO_LONG.test(message)) return { message, code: 'context_length_exceeded' };
  return { message };
}

const isQuota = (error: JsonObject): boolean =>
  detailsOf(error).some(({ '@type': type }) => /\.(?:RetryInfo|QuotaFailure)$/.test(String(type)));

/** `34s` and `0.5s`, as `retry-after` has it. */
function retryDelayOf(error: JsonObject): string | undefined {
  const delays = detailsOf(error).map(({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay))?.[1]);
  return delays.find((delay) => delay !== undefined);
}

const detailsOf = ({ details }: JsonObject): readonly JsonObject[] =>
  Array.isArray(details) ? (details as unknown[]).filter(isJsonObject) : [];
