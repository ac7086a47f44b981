/** Scripted responses of a Chat Completions upstream. */

import { type ResponseOptions, fillContent, type ScriptedContent } from '../../../support/scripted-content.js';
import type { JsonObject, ScriptedEvent } from '../../../support/scripted-steps.js';

export interface ChatResponseOptions extends ResponseOptions {
  /** Default: as in the request's `stream_options`. */
  readonly includeUsage?: boolean;
}

const FINISH_REASONS = { end: 'stop', length: 'length', tools: 'tool_calls', filter: 'content_filter' } as const;

/** Includes `[DONE]`. */
export function chatEvents(options: ChatResponseOptions = {}): ScriptedEvent[] {
  const content = fillContent(options);
  const prefix = stamp(content, 'chat.completion.chunk');
  const nullUsage = options.includeUsage === true ? { usage: null } : {};
  const chunk = (delta: JsonObject, finish_reason: string | null = null): ScriptedEvent => ({
    data: { ...prefix, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...nullUsage },
  });
  const onlyTools = content.toolCalls.length > 0 && content.text.length === 0;
  return [
    chunk({ role: 'assistant', content: onlyTools ? null : '' }),
    ...content.reasoning.map((reasoning_content) => chunk({ reasoning_content })),
    ...content.text.map((text) => chunk({ content: text })),
    ...toolDeltas(content).map((tool_call) => chunk({ tool_calls: [tool_call] })),
    chunk({}, FINISH_REASONS[content.stop]),
    ...(options.includeUsage === true ? [{ data: { ...prefix, choices: [], usage: usage(content) } }] : []),
    { data: '[DONE]' },
  ];
}

export function chatBody(options: ChatResponseOptions = {}): JsonObject {
  const content = fillContent(options);
  const { text, reasoning, toolCalls } = content;
  const message = {
    role: 'assistant',
    content: toolCalls.length > 0 && text.length === 0 ? null : text.join(''),
    refusal: null,
    ...(reasoning.length > 0 ? { reasoning_content: reasoning.join('') } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map((call) => toolCall(call, call.arguments.join(''))) } : {}),
  };
  return {
    ...stamp(content, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH_REASONS[content.stop] }],
    usage: usage(content),
  };
}

/** One fragment with ID and name per call, then arguments only. */
function toolDeltas(content: ScriptedContent): JsonObject[] {
  return content.toolCalls.flatMap((call, index) => [
    { index, ...toolCall(call, '') },
    ...call.arguments.map((fragment) => ({ index, function: { arguments: fragment } })),
  ]);
}

function toolCall(call: { readonly id: string; readonly name: string }, args: string): JsonObject {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: args } };
}

function stamp(content: ScriptedContent, object: string): JsonObject {
  return { id: content.id ?? 'chatcmpl-1', object, created: content.created, model: content.model };
}

function usage({ usage: counts }: ScriptedContent): JsonObject {
  return {
    prompt_tokens: counts.prompt,
    completion_tokens: counts.completion,
    total_tokens: counts.prompt + counts.completion,
    prompt_tokens_details: {
      cached_tokens: counts.cacheRead,
      ...(counts.cacheWrite > 0 ? { cache_write_tokens: counts.cacheWrite } : {}),
    },
    completion_tokens_details: { reasoning_tokens: counts.reasoning },
  };
}
