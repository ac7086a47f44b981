import { openAiErrorBody, parseData, sseText, type Call, type StreamTail } from '../contract/index.js';
import { isJsonObject, type AppError, type ErrorKind, type JsonObject } from '../../platform/shared/index.js';
import { ResponseObject, type ResponseError } from './responses.object.js';

/**
 * Codes inside a stream. Clients act on these few: all but `server_error` and `rate_limit_exceeded` end the turn, and
 * anything unknown makes them repeat it; `invalid_prompt` is the one whose message is shown as it is.
 */
const CODES: Readonly<Record<ErrorKind, string>> = {
  invalid_token: 'invalid_prompt',
  permission_denied: 'invalid_prompt',
  insufficient_quota: 'insufficient_quota',
  invalid_request: 'invalid_prompt',
  context_length_exceeded: 'context_length_exceeded',
  model_not_found: 'invalid_prompt',
  not_found: 'invalid_prompt',
  method_not_allowed: 'invalid_prompt',
  upgrade_required: 'invalid_prompt',
  conflict: 'invalid_prompt',
  request_too_large: 'invalid_prompt',
  request_timeout: 'invalid_prompt',
  unsupported_media_type: 'invalid_prompt',
  rate_limit_exceeded: 'rate_limit_exceeded',
  server_is_overloaded: 'server_is_overloaded',
  unavailable: 'server_is_overloaded',
  // The turn is worth repeating at once: the next process answers it.
  shutting_down: 'server_error',
  upstream_error: 'server_error',
  upstream_auth: 'server_error',
  upstream_truncated: 'server_error',
  timeout: 'server_error',
  internal: 'server_error',
  context_canceled: 'server_error',
};

/**
 * The end of a stream that failed: an `error` event in both forms that clients know, flat and nested, then
 * `response.failed`, the only one that some act on, then the marker.
 * @param sequence the number of its first event
 * @param responseOf the failed response, as JSON text
 */
export function failureText(
  call: Call,
  error: AppError,
  sequence: number,
  responseOf: (error: ResponseError) => string,
): string {
  const code = CODES[error.kind];
  const nested = { ...openAiErrorBody(error, call.id), code };
  const { message, param } = nested;
  const told = { type: 'error', sequence_number: sequence, code, message, param, error: nested };
  const response = responseOf({ code, message });
  return [
    sseText('error', JSON.stringify(told)),
    sseText('response.failed', `{"type":"response.failed","sequence_number":${sequence + 1},"response":${response}}`),
    sseText(undefined, '[DONE]'),
  ].join('');
}

/** The same behind the events of an upstream, whose response it fails. Sequence numbers go on from the tail's. */
export function renderFailure(call: Call, error: AppError, tail: StreamTail): Uint8Array {
  const first = tail.first === undefined ? undefined : parseData(tail.first);
  const last = tail.last === undefined ? undefined : parseData(tail.last);
  const number = last?.['sequence_number'];
  const next = typeof number === 'number' && Number.isSafeInteger(number) ? number + 1 : 0;
  const failed = { ...responseIn(first, call), status: 'failed', output: [] };
  return Buffer.from(failureText(call, error, next, (fault) => JSON.stringify({ ...failed, error: fault })));
}

/** The response as the upstream began it, else one that has every member that clients demand. */
function responseIn(event: JsonObject | undefined, call: Call): JsonObject {
  const begun = event?.['response'];
  const blank = JSON.parse(
    new ResponseObject(call, { store: false }).text({ status: 'failed', output: [] }),
  ) as JsonObject;
  return isJsonObject(begun) && typeof begun['id'] === 'string' ? { ...blank, ...begun } : blank;
}
