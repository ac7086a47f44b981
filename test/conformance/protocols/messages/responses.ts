/** Responses as read by a Messages client. */

import type { NeutralResponse } from '../../../support/neutral-response.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, textsIn, withoutKeepAlives } from '../../../support/stream-text.js';

const STOPS: Readonly<Record<string, NeutralResponse['stop']>> = {
  end_turn: 'end',
  max_tokens: 'length',
  tool_use: 'tools',
  refusal: 'filter',
};

export function readMessagesResponse(message: JsonObject): NeutralResponse {
  const blocks = message['content'] as JsonObject[];
  const usage = message['usage'] as Record<string, number> & Record<string, Record<string, number>>;
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  return {
    text: textsIn(blocks.map(({ text }) => text)),
    reasoning: textsIn(blocks.map(({ thinking }) => thinking)),
    refusal: '',
    calls: calls.map(({ id, name, input }) => `${id} ${name} ${JSON.stringify(input)}`),
    stop: STOPS[message['stop_reason'] as string]!,
    usage: {
      prompt:
        usage['input_tokens']! + (usage['cache_read_input_tokens'] ?? 0) + (usage['cache_creation_input_tokens'] ?? 0),
      cacheRead: usage['cache_read_input_tokens'] ?? 0,
      completion: usage['output_tokens']!,
      reasoning: usage['output_tokens_details']?.['thinking_tokens'] ?? 0,
    },
  };
}

/** Assembles the events of a stream. */
function messageOf(events: readonly JsonObject[]): JsonObject {
  const blocks: { readonly type: unknown; readonly start: JsonObject; readonly pieces: Record<string, string> }[] = [];
  for (const event of events) {
    const start = event['content_block'] as JsonObject | undefined;
    if (start) blocks.push({ type: start['type'], start, pieces: {} });
    if (event['type'] !== 'content_block_delta') continue;
    const { type: _, ...delta } = event['delta'] as Record<string, string>;
    const { pieces } = blocks.at(-1)!;
    for (const [name, piece] of Object.entries(delta)) pieces[name] = (pieces[name] ?? '') + piece;
  }
  const content = blocks.map(({ type, start, pieces: { partial_json = '{}', ...texts } }) =>
    type === 'tool_use' ? { ...start, input: JSON.parse(partial_json) as JsonObject } : { ...start, ...texts },
  );
  const { delta, usage } = events.at(-2) as { delta: JsonObject; usage: JsonObject };
  const begun = (events[0]!['message'] as JsonObject)['usage'] as JsonObject;
  return { ...delta, content, usage: { ...begun, ...usage } };
}

/** The unstreamed equivalent of a stream. */
export function foldedMessage(stream: string): JsonObject {
  const events = readEvents(withoutKeepAlives(stream));
  return messageOf(events.map(({ data }) => JSON.parse(data) as JsonObject));
}
