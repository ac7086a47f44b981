/** Which request goes where on the demo upstream. */

import type { IncomingMessage } from 'node:http';

import { type JsonObject, maskKeys } from '../../platform/shared/index.js';
import { chatCompletionsDemo } from './chat-completions.protocol.js';
import type { DemoProtocol } from './demo.protocol.js';
import { DemoRefusal } from './demo.refusal.js';
import { countMessageTokens, messagesDemo } from './messages.protocol.js';
import { responsesDemo } from './responses.protocol.js';

/** The name under which the demo model lists itself; any other name is answered as well. */
export const DEMO_MODEL = 'demo';

/** What to do with a request, and the dialect in which its errors are worded. */
export type Route = { readonly dialect: DemoProtocol } & (
  | { readonly type: 'generate' }
  | { readonly type: 'count'; count(body: JsonObject): JsonObject }
  | { readonly type: 'plain'; reply(): JsonObject }
  | { readonly type: 'unknown'; readonly refusal: DemoRefusal }
);

const ROUTES: Readonly<Record<string, Route>> = {
  'POST /v1/responses': { type: 'generate', dialect: responsesDemo },
  'POST /v1/chat/completions': { type: 'generate', dialect: chatCompletionsDemo },
  'POST /v1/messages': { type: 'generate', dialect: messagesDemo },
  'POST /v1/messages/count_tokens': { type: 'count', dialect: messagesDemo, count: countMessageTokens },
  'GET /v1/models': { type: 'plain', dialect: responsesDemo, reply: listModels },
};

/** Never fails: an unknown path is a route too, whose answer is a 404. The query plays no part. */
export function findRoute(request: IncomingMessage): Route {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  const route = ROUTES[`${request.method} ${path}`];
  if (route !== undefined) return route;
  const refusal = new DemoRefusal(`The demo upstream has no ${request.method} ${maskKeys(path)}.`, { status: 404 });
  return { type: 'unknown', dialect: speaksMessages(request, path) ? messagesDemo : responsesDemo, refusal };
}

function speaksMessages(request: IncomingMessage, path: string): boolean {
  return path.startsWith('/v1/messages') || request.headers['anthropic-version'] !== undefined;
}

/** One list that the clients of both vendors can read. */
function listModels(): JsonObject {
  const model = {
    id: DEMO_MODEL,
    object: 'model',
    created: 0,
    owned_by: 'switchboard',
    type: 'model',
    display_name: 'Built-in demo model',
    created_at: '1970-01-01T00:00:00Z',
  };
  return { object: 'list', data: [model], has_more: false, first_id: DEMO_MODEL, last_id: DEMO_MODEL };
}
