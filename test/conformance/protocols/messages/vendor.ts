import type { VendorDouble } from '../../vendor-double.js';
import { THOUGHT } from '../../../support/scripted-content.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { modelIn, streamIn } from '../../../support/scripted-bodies.js';
import { messagesBody, messagesEvents, THINKING_SIGNATURE } from './answers.js';
import { readMessagesRequest } from './requests.js';
import { expectMessagesRules } from './rules.js';

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** A Messages upstream with adaptive reasoning. */
export const messagesVendor: VendorDouble = {
  id: 'messages',
  flags: { thinkingMode: 'adaptive' },
  isCall: ({ path }) => path.endsWith('/messages'),
  wantsStream: streamIn,
  modelOf: modelIn,
  headers: { 'request-id': 'req_upstream' },
  listing: {
    // Otherwise only the first twenty models are listed.
    expectRequest({ path, query, headers }) {
      expect([path, Number(query.get('limit'))]).toEqual(['/models', 1000]);
      expect(headers).toHaveProperty('anthropic-version', expect.stringMatching(/^\d{4}-\d\d-\d\d$/));
    },
    body: (names) => ({
      data: names.map((id) => ({
        type: 'model',
        id,
        display_name: id.toUpperCase(),
        created_at: '2026-01-01T00:00:00Z',
      })),
      has_more: false,
      first_id: names[0] ?? null,
      last_id: names.at(-1) ?? null,
    }),
  },
  events: messagesEvents,
  body: messagesBody,
  errorBody(status, message) {
    const type = ERROR_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
    return { type: 'error', error: { type, message }, request_id: 'req_upstream' };
  },
  tooLong: {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 200251 tokens > 200000 maximum' },
      request_id: 'req_upstream',
    },
  },
  errorEvents(message) {
    const error = { type: 'api_error', message };
    return [{ event: 'error', data: { type: 'error', error, request_id: 'req_upstream' } }];
  },
  keepAlive: { event: 'ping', data: { type: 'ping' } },
  closes: /"type":"message_stop"/,
  readRequest: readMessagesRequest,
  expectRequest: expectMessagesRules,
  reasoningMark: THINKING_SIGNATURE,
  /** The same block, first in its turn. */
  expectReasoning(request) {
    const [, assistant] = request['messages'] as { readonly content: readonly JsonObject[] }[];
    expect(assistant!.content[0]).toEqual({ type: 'thinking', thinking: THOUGHT, signature: THINKING_SIGNATURE });
  },
};
