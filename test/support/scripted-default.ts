/** What the upstream answers when a test has scripted nothing: `Hello`, 9 prompt tokens, 2 completion tokens. */

import { responseIn, errorResponse, jsonAnswer } from './scripted-responses.js';
import type { RecordedRequest } from './scripted-request.js';
import type { JsonObject, Script } from './scripted-steps.js';

export function defaultResponse(request: RecordedRequest): Script {
  const { method, path, protocol } = request;
  if (method === 'GET' && path.endsWith('/models')) return jsonAnswer(200, MODELS);
  if (path.endsWith('/messages/count_tokens')) return jsonAnswer(200, { input_tokens: 9 });
  if (path.endsWith('/responses/input_tokens')) {
    return jsonAnswer(200, { object: 'response.input_tokens', input_tokens: 9 });
  }
  if (protocol === undefined || method !== 'POST') return errorResponse(protocol ?? 'chat-completions', 404);
  return isJson(request) ? responseIn(protocol) : errorResponse(protocol, 400);
}

const MODELS: JsonObject = {
  object: 'list',
  data: [
    {
      id: 'm',
      object: 'model',
      created: 1,
      owned_by: 'script',
      type: 'model',
      display_name: 'M',
      created_at: '1970-01-01T00:00:01Z',
    },
  ],
  has_more: false,
  first_id: 'm',
  last_id: 'm',
};

function isJson(request: RecordedRequest): boolean {
  try {
    return typeof request.json === 'object';
  } catch {
    return false;
  }
}
