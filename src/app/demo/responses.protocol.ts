/** The demo model over Responses. */

import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { lastUserTextIn, readItems, readLimit, readModel, readStream, textsIn, toolTextsIn } from './demo.body.js';
import {
  type DemoCall,
  type DemoProtocol,
  type DemoRequest,
  DemoRefusal,
  type DemoResponse,
  type DemoStream,
  encodeEvent,
  renderOpenAiError,
} from './demo.response.js';

const MIN_LIMIT_TOKENS = 16;
const STATUSES = { end: 'completed', length: 'incomplete' } as const;

export const responsesDemo: DemoProtocol = {
  parseRequest,
  renderResponse: renderFinal,
  renderStream,
  renderRefusal: renderOpenAiError,
};

function parseRequest(body: JsonObject): DemoRequest {
  if (typeof body['previous_response_id'] === 'string') {
    throw new DemoRefusal('The demo model does not store responses. Send the whole conversation as input.', {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    });
  }
  const input = body['input'];
  // A string is a single user message.
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : readItems(body, 'input');
  return {
    model: readModel(body),
    stream: readStream(body),
    outputLimit: readLimit(body, 'max_output_tokens', MIN_LIMIT_TOKENS),
    prompt: [...textsIn(body['instructions']), ...textsIn(items), ...toolTextsIn(body)],
    lastUserText: lastUserTextIn(items),
  };
}

function renderFinal(call: DemoCall): JsonObject {
  const { response } = call;
  return responseObject(call, {
    status: STATUSES[response.stop],
    completed_at: response.stop === 'end' ? call.createdAt : null,
    incomplete_details: response.stop === 'end' ? null : { reason: 'max_output_tokens' },
    output: [messageItem(call, STATUSES[response.stop], [textPart(response.pieces.join(''))])],
    usage: usage(response),
  });
}

function renderStream(call: DemoCall): DemoStream {
  const event = numberedEvents();
  const status = STATUSES[call.response.stop];
  const text = call.response.pieces.join('');
  const started = responseObject(call, { status: 'in_progress', output: [], usage: null });
  const place = { item_id: `msg_${call.id}`, output_index: 0, content_index: 0 };
  // Built in sending order: each event takes the next number.
  return {
    opening: [
      event('response.created', { response: started }),
      event('response.in_progress', { response: started }),
      event('response.output_item.added', { output_index: 0, item: messageItem(call, 'in_progress', []) }),
      event('response.content_part.added', { ...place, part: textPart('') }),
    ],
    pieces: call.response.pieces.map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
    closing: [
      event('response.output_text.done', { ...place, text, logprobs: [] }),
      event('response.content_part.done', { ...place, part: textPart(text) }),
      event('response.output_item.done', { output_index: 0, item: messageItem(call, status, [textPart(text)]) }),
      event(`response.${status}`, { response: renderFinal(call) }),
      encodeEvent('[DONE]'),
    ],
  };
}

/** Encodes events of one response with `sequence_number` 0, 1, 2 … */
function numberedEvents(): (type: string, fields: JsonObject) => string {
  let next = 0;
  return (type, fields) => encodeEvent({ type, sequence_number: next++, ...fields }, type);
}

function messageItem(call: DemoCall, status: string, content: readonly JsonObject[]): JsonObject {
  return { type: 'message', id: `msg_${call.id}`, status, role: 'assistant', content };
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function usage(response: DemoResponse): JsonObject {
  return {
    input_tokens: response.promptTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: response.completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: response.promptTokens + response.completionTokens,
  };
}

/** The response object with every key in every state, since strict clients require them. */

/** Members that differ between states. */
interface DemoResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly output: readonly JsonObject[];
  /** Null until the response has ended. */
  readonly usage: JsonObject | null;
  /** Epoch seconds; only when completed. */
  readonly completed_at?: number | null;
  readonly incomplete_details?: JsonObject | null;
}

/** The whole object, repeating the client's settings or defaults. */
function responseObject(call: DemoCall, state: DemoResponseState): JsonObject {
  return {
    id: `resp_${call.id}`,
    object: 'response',
    created_at: call.createdAt,
    completed_at: null,
    error: null,
    incomplete_details: null,
    model: call.question.model,
    ...echoedSettings(call.body),
    background: false,
    service_tier: 'default',
    // The demo stores nothing.
    store: false,
    previous_response_id: null,
    ...state,
  };
}

function echoedSettings(body: JsonObject): JsonObject {
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    presence_penalty: body['presence_penalty'] ?? 0,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null, ...objectOr(body['reasoning'], {}) },
    safety_identifier: body['safety_identifier'] ?? null,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...objectOr(body['text'], {}) },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject).map(echoTool) : [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
  };
}

/** Function tools are repeated with all keys, absent ones as null; others unchanged. */
function echoTool(tool: JsonObject): JsonObject {
  if (tool['type'] !== 'function') return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function objectOr(value: unknown, fallback: JsonObject): JsonObject {
  return isJsonObject(value) ? value : fallback;
}
