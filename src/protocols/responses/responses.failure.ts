import { openAiErrorBody, parseData, renderSse, type Call, type StreamTail } from '../../call/index.js';
import { isJsonObject, type AppError, type ErrorKind, type JsonObject } from '../../shared/index.js';

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
 * `response.failed`, the only one that some act on, then the marker. Sequence numbers go on from the tail's.
 */
export function renderFailure(call: Call, error: AppError, tail: StreamTail): Uint8Array {
  const first = tail.first === undefined ? undefined : parseData(tail.first);
  const last = tail.last === undefined ? undefined : parseData(tail.last);
  const number = last?.['sequence_number'];
  const next = typeof number === 'number' && Number.isSafeInteger(number) ? number + 1 : 0;
  const code = CODES[error.kind];
  const nested = { ...openAiErrorBody(error, call.id), code };
  const { message, param } = nested;
  const failed = { ...responseIn(first, call), status: 'failed', output: [], error: { code, message } };
  return Buffer.concat([
    renderEvent({ type: 'error', sequence_number: next, code, message, param, error: nested }),
    renderEvent({ type: 'response.failed', sequence_number: next + 1, response: failed }),
    renderSse(undefined, '[DONE]'),
  ]);
}

const renderEvent = (event: JsonObject & { readonly type: string }): Buffer =>
  renderSse(event.type, JSON.stringify(event));

/** The response as the upstream began it, else one that has every member that clients demand. */
function responseIn(event: JsonObject | undefined, call: Call): JsonObject {
  const begun = event?.['response'];
  const blank = blankResponse(call);
  return isJsonObject(begun) && typeof begun['id'] === 'string' ? { ...blank, ...begun } : blank;
}

function blankResponse(call: Call): JsonObject {
  return {
    id: `resp_${call.id.replace(/^req_/, '')}`,
    object: 'response',
    created_at: Math.floor(call.createdAt / 1000),
    status: 'failed',
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: call.head.outputLimit ?? null,
    max_tool_calls: null,
    model: call.head.model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: call.head.effort ?? null, summary: null },
    background: false,
    store: false,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    truncation: 'disabled',
    service_tier: 'default',
    usage: null,
    metadata: {},
    safety_identifier: null,
    prompt_cache_key: null,
  };
}
