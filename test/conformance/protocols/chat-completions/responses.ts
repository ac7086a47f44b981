/** Responses as read by a Chat Completions client. */

import type { NeutralResponse } from '../../../support/neutral-response.js';
import type { ScriptedStop } from '../../../support/scripted-content.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, textsIn, withoutKeepAlives } from '../../../support/stream-text.js';

const FINISHES: Readonly<Record<string, ScriptedStop>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tools',
  content_filter: 'filter',
};

interface ChatCall {
  id: string;
  function: { name: string; arguments: string };
}

export function readChatResponse({ choices, usage }: JsonObject): NeutralResponse {
  const [choice] = choices as { message: JsonObject; finish_reason: string }[];
  const { message, finish_reason } = choice!;
  const counts = usage as Record<string, number> & Record<string, Record<string, number>>;
  const refusal = textsIn([message['refusal']]);
  const calls = (message['tool_calls'] as ChatCall[] | undefined) ?? [];
  return {
    text: textsIn([message['content']]),
    reasoning: textsIn([message['reasoning_content']]),
    refusal,
    calls: calls.map(({ id, function: called }) => `${id} ${called.name} ${called.arguments}`),
    stop: refusal === '' ? FINISHES[finish_reason]! : 'refusal',
    usage: {
      prompt: counts['prompt_tokens']!,
      cacheRead: counts['prompt_tokens_details']?.['cached_tokens'] ?? 0,
      completion: counts['completion_tokens']!,
      reasoning: counts['completion_tokens_details']?.['reasoning_tokens'] ?? 0,
    },
  };
}

/** Assembles the chunks of a stream. */
function completionOf(chunks: readonly JsonObject[]): JsonObject {
  const choices = chunks.flatMap((chunk) => chunk['choices'] as { delta: JsonObject; finish_reason: string | null }[]);
  const sum = (member: string): string => textsIn(choices.map(({ delta }) => delta[member]));
  const calls: ChatCall[] = [];
  for (const { delta } of choices) {
    for (const { index, id, function: piece } of (delta['tool_calls'] ?? []) as (Partial<ChatCall> & {
      index: number;
    })[]) {
      const call = (calls[index] ??= { id: id!, function: { name: piece!.name, arguments: '' } });
      call.function.arguments += piece!.arguments;
    }
  }
  const message = {
    content: sum('content'),
    reasoning_content: sum('reasoning_content'),
    refusal: sum('refusal'),
    tool_calls: calls,
  };
  const finish_reason = choices.find((choice) => choice.finish_reason !== null)!.finish_reason;
  return { choices: [{ message, finish_reason }], usage: chunks.at(-1)!['usage'] };
}

/** The unstreamed equivalent of a stream. */
export function foldedCompletion(stream: string): JsonObject {
  const events = readEvents(withoutKeepAlives(stream)).filter(({ data }) => data !== '[DONE]');
  return completionOf(events.map(({ data }) => JSON.parse(data) as JsonObject));
}
