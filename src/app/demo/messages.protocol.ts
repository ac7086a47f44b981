/** The demo model over Messages, with its token counting endpoint. */

import type { JsonObject } from '../../platform/shared/index.js';
import { lastUserTextIn, readItems, readLimit, readModel, readStream, textsIn, toolTextsIn } from './demo.body.js';
import {
  countPromptTokens,
  type DemoCall,
  type DemoProtocol,
  type DemoRequest,
  DemoRefusal,
  type DemoResponse,
  type DemoStream,
  encodeEvent,
} from './demo.response.js';

const STOP_REASONS = { end: 'end_turn', length: 'max_tokens' } as const;

const ERROR_TYPES: Readonly<Record<number, string>> = {
  404: 'not_found_error',
  413: 'request_too_large',
  500: 'api_error',
};

export const messagesDemo: DemoProtocol = { parseRequest, renderResponse, renderStream, renderRefusal };

/** Handles `POST /messages/count_tokens`: the body of a message without `max_tokens` and `stream`. @throws DemoRefusal */
export function countMessageTokens(body: JsonObject): JsonObject {
  readModel(body);
  return { input_tokens: countPromptTokens(promptIn(body)) };
}

function parseRequest(body: JsonObject): DemoRequest {
  const outputLimit = readLimit(body, 'max_tokens', 0);
  if (outputLimit === undefined) {
    throw new DemoRefusal('max_tokens: Field required', { param: 'max_tokens' });
  }
  return {
    model: readModel(body),
    stream: readStream(body),
    outputLimit,
    prompt: promptIn(body),
    lastUserText: lastUserTextIn(readItems(body, 'messages')),
  };
}

function promptIn(body: JsonObject): string[] {
  return [...textsIn(body['system']), ...textsIn(readItems(body, 'messages')), ...toolTextsIn(body)];
}

function renderResponse(call: DemoCall): JsonObject {
  const text = call.response.pieces.join('');
  return {
    ...message(call, text === '' ? [] : [{ type: 'text', text, citations: null }]),
    stop_reason: STOP_REASONS[call.response.stop],
    usage: usage(call.response, call.response.completionTokens),
  };
}

function renderStream(call: DemoCall): DemoStream {
  const { pieces } = call.response;
  const block = { type: 'text', text: '' };
  // A limit of zero requests no output, so there is no block.
  const empty = pieces.length === 0;
  return {
    opening: [
      event({ type: 'message_start', message: { ...message(call, []), usage: usage(call.response, 0) } }),
      event({ type: 'ping' }),
      ...(empty ? [] : [event({ type: 'content_block_start', index: 0, content_block: block })]),
    ],
    pieces: pieces.map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    closing: [
      ...(empty ? [] : [event({ type: 'content_block_stop', index: 0 })]),
      event({
        type: 'message_delta',
        delta: { stop_reason: STOP_REASONS[call.response.stop], stop_sequence: null },
        usage: usage(call.response, call.response.completionTokens),
      }),
      event({ type: 'message_stop' }),
    ],
  };
}

function renderRefusal(refusal: DemoRefusal, requestId: string): JsonObject {
  const type = ERROR_TYPES[refusal.status] ?? 'invalid_request_error';
  return { type: 'error', error: { type, message: refusal.message }, request_id: requestId };
}

/** Clients of this protocol ignore events without a name. */
function event(data: JsonObject & { readonly type: string }): string {
  return encodeEvent(data, data.type);
}

function message(call: DemoCall, content: readonly JsonObject[]): JsonObject {
  return {
    id: `msg_${call.id}`,
    type: 'message',
    role: 'assistant',
    model: call.question.model,
    content,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
  };
}

function usage(response: DemoResponse, outputTokens: number): JsonObject {
  return {
    input_tokens: response.promptTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
    service_tier: 'standard',
  };
}
