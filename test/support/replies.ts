/** The second turn of a client: what it was answered goes back as it came, with the results of its tools. */

import { foldedStream } from './heard.js';
import type { Dialect, JsonObject } from './scripted-upstream.js';

/**
 * The request that follows an answer with a call: the one before, what was answered, and a result of the call.
 * @param answer as it came, a stream or JSON
 */
export function continued(dialect: Dialect, request: JsonObject, answer: string, callId: string): JsonObject {
  const whole = answer.startsWith('{') ? (JSON.parse(answer) as JsonObject) : foldedStream(dialect, answer);
  const turns = (name: string): readonly JsonObject[] => request[name] as JsonObject[];
  switch (dialect) {
    case 'responses': {
      const result = { type: 'function_call_output', call_id: callId, output: 'Snow.' };
      return { ...request, input: [...turns('input'), ...(whole['output'] as JsonObject[]), result] };
    }
    case 'chat-completions': {
      const [choice] = whole['choices'] as { readonly message: JsonObject }[];
      const message = { role: 'assistant', ...choice!.message };
      const result = { role: 'tool', tool_call_id: callId, content: 'Snow.' };
      return { ...request, messages: [...turns('messages'), message, result] };
    }
    case 'messages': {
      const result = { type: 'tool_result', tool_use_id: callId, content: 'Snow.' };
      const said = [
        { role: 'assistant', content: whole['content'] },
        { role: 'user', content: [result] },
      ];
      return { ...request, messages: [...turns('messages'), ...said] };
    }
  }
}
