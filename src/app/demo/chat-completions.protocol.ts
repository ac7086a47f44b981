/** The demo model over Chat Completions. */

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

const FINISH_REASONS = { end: 'stop', length: 'length' } as const;

export const chatCompletionsDemo: DemoProtocol = {
  parseRequest,
  renderResponse,
  renderStream,
  renderRefusal: renderOpenAiError,
};

function parseRequest(body: JsonObject): DemoRequest {
  const messages = readItems(body, 'messages');
  if ((readLimit(body, 'n', 1) ?? 1) > 1) {
    throw new DemoRefusal('The demo model returns a single choice. Omit n.', { param: 'n', code: 'invalid_value' });
  }
  return {
    model: readModel(body),
    stream: readStream(body),
    // The older name counts only where the newer one is absent.
    outputLimit: readLimit(body, 'max_completion_tokens', 1) ?? readLimit(body, 'max_tokens', 1),
    prompt: [...textsIn(messages), ...toolTextsIn(body)],
    lastUserText: lastUserTextIn(messages),
  };
}

function renderResponse(call: DemoCall): JsonObject {
  const message = { role: 'assistant', content: call.response.pieces.join(''), refusal: null, annotations: [] };
  const finish_reason = FINISH_REASONS[call.response.stop];
  return {
    ...stamp(call, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: usage(call.response),
    service_tier: 'default',
  };
}

function renderStream(call: DemoCall): DemoStream {
  const options = call.body['stream_options'];
  const withUsage = isJsonObject(options) && options['include_usage'] === true;
  const head = stamp(call, 'chat.completion.chunk');
  const chunk = (delta: JsonObject, finish_reason: string | null): string =>
    encodeEvent({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      // Present on every chunk when usage was requested, else on none.
      ...(withUsage ? { usage: null } : {}),
    });
  return {
    opening: [chunk({ role: 'assistant', content: '' }, null)],
    pieces: call.response.pieces.map((content) => chunk({ content }, null)),
    closing: [
      chunk({}, FINISH_REASONS[call.response.stop]),
      ...(withUsage ? [encodeEvent({ ...head, choices: [], usage: usage(call.response) })] : []),
      encodeEvent('[DONE]'),
    ],
  };
}

function stamp(call: DemoCall, object: string): JsonObject {
  return { id: `chatcmpl-${call.id}`, object, created: call.createdAt, model: call.question.model };
}

function usage(response: DemoResponse): JsonObject {
  return {
    prompt_tokens: response.promptTokens,
    completion_tokens: response.completionTokens,
    total_tokens: response.promptTokens + response.completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
