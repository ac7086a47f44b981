/** Responses as read by a Responses client. */

import type { NeutralResponse } from '../../../support/neutral-response.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, textsIn, withoutKeepAlives } from '../../../support/stream-text.js';
import { expectResponse } from './grammar.js';

export function readResponsesResponse(response: JsonObject): NeutralResponse {
  expectResponse(response);
  const items = response['output'] as JsonObject[];
  const contents = items.flatMap((item) => (item['content'] as JsonObject[] | undefined) ?? []);
  const calls = items.filter(({ type }) => type === 'function_call');
  const refusal = textsIn(contents.map((part) => part['refusal']));
  const reason = (response['incomplete_details'] as { reason: string } | null)?.reason;
  const usage = response['usage'] as Record<string, number> & Record<string, Record<string, number>>;
  return {
    text: textsIn(contents.map(({ text }) => text)),
    reasoning: textsIn(
      items.flatMap((item) => (item['summary'] as JsonObject[] | undefined) ?? []).map(({ text }) => text),
    ),
    refusal,
    calls: calls.map((item) => `${item['call_id']} ${item['name']} ${item['arguments']}`),
    stop: reason
      ? reason === 'content_filter'
        ? 'filter'
        : 'length'
      : calls.length
        ? 'tools'
        : refusal
          ? 'refusal'
          : 'end',
    usage: {
      prompt: usage['input_tokens']!,
      cacheRead: usage['input_tokens_details']!['cached_tokens']!,
      completion: usage['output_tokens']!,
      reasoning: usage['output_tokens_details']!['reasoning_tokens']!,
    },
  };
}

/** The final event contains the whole response. */
export function foldedResponse(stream: string): JsonObject {
  const events = readEvents(withoutKeepAlives(stream)).filter(({ data }) => data !== '[DONE]');
  return (JSON.parse(events.at(-1)!.data) as JsonObject)['response'] as JsonObject;
}
