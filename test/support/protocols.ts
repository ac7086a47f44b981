import { chatClient } from '../conformance/protocols/chat-completions/client.js';
import { messagesClient } from '../conformance/protocols/messages/client.js';
import { responsesClient } from '../conformance/protocols/responses/client.js';
import type { ProtocolEndpoint, JsonObject } from './scripted-upstream.js';

/** Those whose requests name the model in the body. What other protocols there are, `CLIENTS` and `VENDORS` say. */
export const PROTOCOLS: readonly ProtocolEndpoint[] = ['chat-completions', 'messages', 'responses'];

export const PATHS: Readonly<Record<ProtocolEndpoint, string>> = {
  'chat-completions': chatClient.path,
  messages: messagesClient.path,
  responses: responsesClient.path,
};

/** The smallest good request of a protocol, with whatever the test adds. */
export function aRequest(protocol: ProtocolEndpoint, overrides: JsonObject = {}): JsonObject {
  if (protocol === 'responses') return { model: 'm', input: 'Hello', ...overrides };
  const messages = [{ role: 'user', content: 'Hello' }];
  return { model: 'm', messages, ...(protocol === 'messages' && { max_tokens: 1000 }), ...overrides };
}
