/** Output items of a scripted response: reasoning, message, function calls. */

import type { ScriptedContent } from '../../../support/scripted-content.js';
import type { JsonObject } from '../../../support/scripted-steps.js';

/** In every scripted reasoning item. */
export const ENCRYPTED_REASONING = 'ZW5jcnlwdGVkIGJ5IHRoZSBzY3JpcHQ=';

/** An item when added, its events (without `item_id` and `output_index`), and when done. */
export interface Item {
  readonly added: JsonObject;
  readonly body: readonly (JsonObject & { readonly type: string })[];
  readonly whole: JsonObject;
}

export function items(content: ScriptedContent): Item[] {
  const cut = content.stop === 'length' || content.stop === 'filter';
  return [
    ...(content.reasoning.length > 0 ? [reasoningItem(content.reasoning)] : []),
    ...(content.text.length > 0 ? [messageItem(content.text, cut ? 'incomplete' : 'completed')] : []),
    ...content.toolCalls.map(functionCallItem),
  ];
}

function reasoningItem(pieces: readonly string[]): Item {
  const text = pieces.join('');
  const part = { type: 'summary_text', text };
  const place = { summary_index: 0 };
  return {
    added: { type: 'reasoning', id: 'rs_1', summary: [] },
    body: [
      { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
      ...pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
      { type: 'response.reasoning_summary_text.done', ...place, text },
      { type: 'response.reasoning_summary_part.done', ...place, part },
    ],
    whole: { type: 'reasoning', id: 'rs_1', summary: [part], encrypted_content: ENCRYPTED_REASONING },
  };
}

function messageItem(pieces: readonly string[], status: string): Item {
  const text = pieces.join('');
  const part = { type: 'output_text', text, annotations: [] };
  const place = { content_index: 0 };
  const message = { type: 'message', id: 'msg_a' };
  return {
    added: { ...message, status: 'in_progress', role: 'assistant', content: [] },
    body: [
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...place, text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
    ],
    whole: { ...message, status, role: 'assistant', content: [part] },
  };
}

function functionCallItem({ id, name, arguments: pieces }: ScriptedContent['toolCalls'][number], index: number): Item {
  const call = { type: 'function_call', id: `fc_${index + 1}`, call_id: id, name };
  const whole = pieces.join('');
  return {
    added: { ...call, arguments: '', status: 'in_progress' },
    body: [
      ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', name, arguments: whole },
    ],
    whole: { ...call, arguments: whole, status: 'completed' },
  };
}
