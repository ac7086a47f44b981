import { chatClient } from '../conformance/dialects/chat-completions/client.js';
import { messagesClient } from '../conformance/dialects/messages/client.js';
import { responsesClient } from '../conformance/dialects/responses/client.js';
import type { ProtocolEndpoint, JsonObject } from './scripted-upstream.js';

/** Those that can be both a client's and an upstream's. What other dialects there are, `CLIENTS` and `VENDORS` say. */
export const PROTOCOLS: readonly ProtocolEndpoint[] = ['chat-completions', 'messages', 'responses'];

export const PATHS: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': chatClient.path,
  messages: messagesClient.path,
  responses: responsesClient.path,
};

/** The smallest good request of a dialect, with whatever the test adds. */
export function aRequest(dialect: ProtocolEndpoint, overrides: JsonObject = {}): JsonObject {
  if (dialect === 'responses') return { model: 'm', input: 'Hello', ...overrides };
  const messages = [{ role: 'user', content: 'Hello' }];
  return { model: 'm', messages, ...(dialect === 'messages' && { max_tokens: 1000 }), ...overrides };
}
