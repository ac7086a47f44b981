import type { ClientDouble } from '../../client-double.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, withoutKeepAlives } from '../../../support/stream-text.js';
import { chatRequest } from './requests.js';
import { expectChatFailure, expectChatStream } from './grammar.js';
import { readChatResponse, foldedCompletion } from './responses.js';

/** A Chat Completions client that requests usage of streams. */
export const chatClient: ClientDouble = {
  id: 'chat-completions',
  path: '/v1/chat/completions',
  lacks: {
    'images in results': 'messages of tools are text',
    'reasoning given back': 'there is no place for a seal',
  },
  errorForm: 'openai',
  request: (requested, stream) => ({
    ...chatRequest(requested),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  wantsReasoning: { reasoning_effort: 'high' },
  readResponse: readChatResponse,
  readStream(stream) {
    expectChatStream(readEvents(withoutKeepAlives(stream)), true);
    return readChatResponse(foldedCompletion(stream));
  },
  expectFailure: expectChatFailure,
  continued(request, response, callId) {
    const whole = response.startsWith('{') ? (JSON.parse(response) as JsonObject) : foldedCompletion(response);
    const [choice] = whole['choices'] as { readonly message: JsonObject }[];
    const message = { role: 'assistant', ...choice!.message };
    const result = { role: 'tool', tool_call_id: callId, content: 'Snow.' };
    return { ...request, messages: [...(request['messages'] as JsonObject[]), message, result] };
  },
};
