import { type AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { classifyUpstream } from './classify-upstream.js';
import { objectsIn, stringOf } from './json-text.js';
import type { Effort } from './request-demands.js';
import type { CallContent, Source, ToolResultPart, Turn } from './translation/content.js';
import { textOfFile } from './translation/conversation.js';
import { type NameRule, supportedHostedTools } from './translation/tool-names.js';
import { type TranslationWarnings, unsupported } from './translation/warnings.js';
import type { UpstreamHeaders } from './upstream-adapter.js';
import type { UpstreamTarget } from './upstream-request.js';

// Shared by Google's protocols.

/** Capabilities that models have in both protocols, with defaults that every model accepts. */
export interface GoogleFlags {
  readonly takesSampling: boolean;
  readonly stopMax: number;
  /** When output formats are supported: always, only without tools, or never. */
  readonly takesFormats: 'always' | 'alone' | 'never';
  readonly takesPrefill: boolean;
  /** Fetches images and files by URL. */
  readonly takesUrls: boolean;
  readonly takesAudio: boolean;
  /** Tool results may contain images and files; otherwise they follow. */
  readonly takesMediaInResults: boolean;
  readonly searchesWeb: boolean;
  /** Placeholder for empty results. */
  readonly emptyResult: string;
}

const MAX_STOPS = 5;
export const GOOGLE_EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

export function googleFlags({ flags }: UpstreamTarget): GoogleFlags {
  const { stopMax, structuredOutput: formats } = flags;
  return {
    takesSampling: flags['samplingFixed'] !== true,
    stopMax: typeof stopMax === 'number' ? stopMax : MAX_STOPS,
    takesFormats: formats === false ? 'never' : formats === 'alone' ? 'alone' : 'always',
    takesPrefill: flags['prefill'] !== false,
    takesUrls: flags['imageUrl'] !== false,
    takesAudio: flags['audio'] === true,
    takesMediaInResults: flags['resultMedia'] === true,
    searchesWeb: flags['hostedWebSearch'] === true,
    emptyResult: flags['emptyToolResultText'] === true ? '(no output)' : '',
  };
}

/** Function names begin with a letter or an underscore. */
export const GOOGLE_FUNCTION_NAMES: NameRule = { maxLength: 64, invalid: /^[^A-Za-z_]|[^A-Za-z0-9_-]/g };

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
]);

/** Other protocols do not state the media type of a URL. Undefined if unknown. */
export function mediaTypeOf(url: string): string | undefined {
  const [path = ''] = url.split(/[?#]/, 1);
  return MEDIA_TYPES.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}

/** An image or file in a tool result. */
export interface ResultMedia {
  readonly kind: 'image' | 'file';
  readonly source: Source;
}

export const mediaOf = ({ parts }: ToolResultPart): readonly ResultMedia[] =>
  parts.flatMap((part) =>
    part.kind === 'text' || part.source.from === 'text' ? [] : [{ kind: part.kind, source: part.source }],
  );

/** Text before media that follows the tool results. */
export const mediaCaption = ({ kind }: ResultMedia, callId: string): string =>
  `${kind === 'image' ? 'Image' : 'File'} returned by tool call ${callId}:`;

export function textOfResult({ parts }: ToolResultPart): string {
  const texts = parts.flatMap((part) => {
    if (part.kind === 'text') return [part.text];
    return part.kind === 'file' && part.source.from === 'text' ? [textOfFile(part)] : [];
  });
  return texts.join('\n');
}

export const urlUnsupported = (kind: ResultMedia['kind']): AppError =>
  unsupported('messages', `contain a URL of the ${kind}, which this model does not accept; send the data`);

/** Seeds are signed 32-bit integers. */
const SEED_BITS = 32;

/** Seeds guarantee nothing, so truncation is fine. */
export const googleSeed = (seed: number | undefined): number | undefined =>
  seed === undefined ? undefined : Number(BigInt.asIntN(SEED_BITS, BigInt(seed)));

/** @param support always, only without tools, or never */
export const isFormatSupported = (
  { tools, hostedTools }: Pick<CallContent, 'tools' | 'hostedTools'>,
  support: 'always' | 'alone' | 'never',
): boolean => support === 'always' || (support === 'alone' && tools.length + hostedTools.length === 0);

/**
 * Whether web search is offered. Combined with functions, searches would have to be sent back, which clients cannot do.
 * @throws AppError as `supportedHostedTools`
 */
export function offersWebSearch(content: CallContent, isSupported: boolean, warnings: TranslationWarnings): boolean {
  const isPossible = isSupported && content.tools.length === 0;
  const hosted = supportedHostedTools(content, ({ type }) => isPossible && type === 'web_search', warnings);
  // A search alone can only be disabled by omitting it.
  return hosted.length > 0 && content.toolChoice.mode !== 'none';
}

/** Documented placeholder for calls of other models, which skips validation. */
export const UNSIGNED_THOUGHT = 'skip_thought_signature_validator';

/**
 * Index of the first turn with validated calls: after the last user turn with more than results. Turns with both are
 * treated as results: signing too much is harmless.
 */
export const startOfToolLoop = (turns: readonly Turn[]): number =>
  turns.findLastIndex(({ role, parts }) => role === 'user' && parts.every(({ kind }) => kind !== 'tool-result')) + 1;

// Google's errors: `{ error: { code, message, status, details: [{ '@type', … }] } }`, alone or in a list, or with a code
// in words: `{ error: { code: 'invalid_request', message } }`. https://google.aip.dev/193,
// https://ai.google.dev/gemini-api/docs/troubleshooting, https://ai.google.dev/gemini-api/docs/api-errors

/** HTTP status by name or code, for errors without a number. */
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
  invalid_request: 400,
  failed_precondition: 400,
  out_of_range: 400,
  parameter_unknown: 400,
  authentication: 401,
  payment_required: 402,
  permission_denied: 403,
  not_found: 404,
  model_not_found: 404,
  rate_limit_exceeded: 429,
  quota_exceeded: 429,
  service_unavailable: 503,
};

/** @param body parsed if JSON, else text */
export function classifyGoogleError(status: number, headers: UpstreamHeaders, body: unknown): AppError {
  const error = errorIn(body);
  if (error === undefined) return classifyUpstream(status, headers, body);
  const delay = retryDelayOf(error);
  const withDelay =
    delay !== undefined && headers['retry-after'] === undefined ? { ...headers, 'retry-after': delay } : headers;
  return classifyUpstream(status, withDelay, { error: standardMessage(status, error) });
}

/** Classifies an error within a 200 response. */
export function classifyGoogleInnerError(body: JsonObject): AppError {
  const { code, status } = errorIn(body) ?? {};
  const number = typeof code === 'number' && code >= 400 && code <= 599 ? code : STATUSES[stringOf(status ?? code)];
  return classifyGoogleError(number ?? 500, {}, body);
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
export const GOOGLE_TOO_LONG = /input token count.{0,40}(?:exceeds the maximum|only supports up to)/is;

/** Common codes by Google's; those of its other codes follow from the status. */
const CODES: Readonly<Record<string, string>> = {
  model_not_found: 'model_not_found',
  parameter_unknown: 'unknown_parameter',
  quota_exceeded: 'insufficient_quota',
};

/** Maps the error to common codes, since Google has few. */
function standardMessage(status: number, error: JsonObject): JsonObject {
  const message = typeof error['message'] === 'string' ? error['message'] : '';
  const reasons = objectsIn(error['details']).map(({ reason }) => (typeof reason === 'string' ? reason : ''));
  // Quota errors per day and per minute have the same message; these details mean per minute.
  if (status === 429 && (isQuota(error) || error['code'] === 'rate_limit_exceeded')) return {};
  if (reasons.some((reason) => BAD_KEY.test(reason)) || BAD_PLACE.test(message))
    return { message, code: 'invalid_api_key' };
  if (UNKNOWN_MODEL.test(message)) return { message, code: 'model_not_found' };
  if (GOOGLE_TOO_LONG.test(message)) return { message, code: 'context_length_exceeded' };
  return { message, code: CODES[stringOf(error['code'])] };
}

const isQuota = (error: JsonObject): boolean =>
  objectsIn(error['details']).some(({ '@type': type }) => /\.(?:RetryInfo|QuotaFailure)$/.test(stringOf(type)));

/** `34s` or `0.5s` as in `retry-after`. */
function retryDelayOf(error: JsonObject): string | undefined {
  const delays = objectsIn(error['details']).map(
    ({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(stringOf(retryDelay))?.[1],
  );
  return delays.find((delay) => delay !== undefined);
}
