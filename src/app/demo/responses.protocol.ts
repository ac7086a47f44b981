/** The demo model over Responses. */

import type { JsonObject } from '../../platform/shared/index.js';
import type { DemoResponse, DemoQuestion } from './demo.response.js';
import { lastUserTextIn, readItems, readLimit, readModel, readStream, textsIn, toolTextsIn } from './demo.body.js';
import { type DemoCall, type DemoProtocol, type DemoStream, encodeEvent } from './demo.protocol.js';
import { DemoRefusal, renderOpenAiError } from './demo.refusal.js';
import { responseObject } from './responses.object.js';

const MIN_LIMIT_TOKENS = 16;
const STATUSES = { end: 'completed', length: 'incomplete' } as const;

export const responsesDemo: DemoProtocol = {
  readQuestion,
  renderAnswer: renderFinal,
  renderStream,
  renderRefusal: renderOpenAiError,
};

function readQuestion(body: JsonObject): DemoQuestion {
  if (typeof body['previous_response_id'] === 'string') {
    throw new DemoRefusal('The demo model does not store responses. Send the whole conversation as input.', {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    });
  }
  const input = body['input'];
  // A plain string is short for one user message.
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
  const { answer } = call;
  return responseObject(call, {
    status: STATUSES[answer.stop],
    completed_at: answer.stop === 'end' ? call.createdAt : null,
    incomplete_details: answer.stop === 'end' ? null : { reason: 'max_output_tokens' },
    output: [messageItem(call, STATUSES[answer.stop], [textPart(answer.pieces.join(''))])],
    usage: usage(answer),
  });
}

function renderStream(call: DemoCall): DemoStream {
  const event = numberedEvents();
  const status = STATUSES[call.answer.stop];
  const text = call.answer.pieces.join('');
  const started = responseObject(call, { status: 'in_progress', output: [], usage: null });
  const place = { item_id: `msg_${call.id}`, output_index: 0, content_index: 0 };
  // The three lists are built in the order in which they are sent: each event takes the next number.
  return {
    opening: [
      event('response.created', { response: started }),
      event('response.in_progress', { response: started }),
      event('response.output_item.added', { output_index: 0, item: messageItem(call, 'in_progress', []) }),
      event('response.content_part.added', { ...place, part: textPart('') }),
    ],
    pieces: call.answer.pieces.map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
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

function usage(answer: DemoResponse): JsonObject {
  return {
    input_tokens: answer.promptTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: answer.completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: answer.promptTokens + answer.completionTokens,
  };
}
