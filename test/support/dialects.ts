import type { Dialect, JsonObject } from './scripted-upstream.js';

export const DIALECTS: readonly Dialect[] = ['chat-completions', 'messages', 'responses'];

export const PATHS: Readonly<Record<Dialect, string>> = {
  'chat-completions': '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

/** The smallest good request of a dialect, with whatever the test adds. */
export function aRequest(dialect: Dialect, overrides: JsonObject = {}): JsonObject {
  if (dialect === 'responses') return { model: 'm', input: 'Hello', ...overrides };
  const messages = [{ role: 'user', content: 'Hello' }];
  return { model: 'm', messages, ...(dialect === 'messages' && { max_tokens: 100 }), ...overrides };
}
