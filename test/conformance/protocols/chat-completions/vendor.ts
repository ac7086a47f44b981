import type { VendorDouble } from '../../vendor-double.js';
import { THOUGHT } from '../../../support/scripted-content.js';
import { modelIn, openAiError, streamIn } from '../../../support/scripted-bodies.js';
import { chatBody, chatEvents } from './answers.js';
import { readChatRequest } from './requests.js';
import { expectChatRules } from './rules.js';

/** A Chat Completions upstream with readable reasoning that must be sent back. */
export const chatVendor: VendorDouble = {
  id: 'chat-completions',
  lacks: { 'limit of the smallest request': 'servers know it by one of two names, and refuse the other' },
  flags: { reasoning: true, replayReasoning: true, midSystem: 'native' },
  isCall: ({ path }) => path.endsWith('/chat/completions'),
  wantsStream: streamIn,
  modelOf: modelIn,
  headers: { 'x-request-id': 'req_upstream' },
  listing: {
    expectRequest({ path, query }) {
      expect([path, query.toString()]).toEqual(['/models', '']);
    },
    body: (names) => ({
      object: 'list',
      data: names.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'vendor' })),
    }),
  },
  events(options, request) {
    const requested = request?.['stream_options'] as { readonly include_usage?: unknown } | undefined;
    return chatEvents({ includeUsage: requested?.include_usage === true, ...options });
  },
  body: chatBody,
  errorBody: openAiError,
  tooLong: {
    status: 400,
    body: {
      error: {
        message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
  errorEvents: (message) => [{ data: { error: { message, type: 'server_error', param: null, code: 'server_error' } } }],
  // Some servers omit the marker.
  closes: /"finish_reason":"/,
  readRequest: readChatRequest,
  expectRequest: expectChatRules,
  reasoningMark: THOUGHT,
};
