/** Grammar of a Messages stream (protocols.md §4.5), as checked by the strictest client. */

import type { JsonObject } from '../../../support/scripted-steps.js';
import type { ReadEvent } from '../../../support/stream-text.js';

/** Deltas by type of block. */
const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  tool_use: ['input_json_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
};

/** Blocks before their first delta. */
const OPENED: Readonly<Record<string, JsonObject>> = {
  text: { type: 'text', text: '' },
  tool_use: { type: 'tool_use', id: expect.stringMatching(/./), name: expect.stringMatching(/./), input: {} },
  thinking: { type: 'thinking', thinking: '', signature: '' },
  redacted_thinking: { type: 'redacted_thinking', data: expect.stringMatching(/./) },
};

export function expectMessagesStream(events: readonly ReadEvent[]): void {
  const sent = named(events);
  expect(sent.map(({ type }) => type).slice(-2)).toEqual(['message_delta', 'message_stop']);
  const blocks = walkBlocks(sent.slice(0, -2));
  expect(blocks.open).toBeUndefined();
  expect(sent.at(-2)).toMatchObject({
    delta: { stop_reason: expect.any(String) as unknown },
    usage: { output_tokens: expect.any(Number) as unknown },
  });
}

/** A failed stream ends with one error and no normal end. */
export function expectMessagesFailure(before: readonly ReadEvent[], ending: readonly ReadEvent[]): void {
  walkBlocks(named(before));
  expect(ending).toHaveLength(1);
  expect(named(ending)).toEqual([
    {
      type: 'error',
      error: { type: expect.stringMatching(/_error$|^request_too_large$/), message: expect.any(String) },
      request_id: expect.stringMatching(/^req_/),
    },
  ]);
}

/** Named JSON events without other protocols' marker. */
function named(events: readonly ReadEvent[]): JsonObject[] {
  return events.map(({ event, data }) => {
    const parsed = JSON.parse(data) as JsonObject;
    expect(parsed['type']).toBe(event);
    return parsed;
  });
}

/** From `message_start`: consecutive blocks from 0 with deltas of their type. */
function walkBlocks(events: readonly JsonObject[]): { readonly open: string | undefined } {
  let open: string | undefined;
  let count = 0;
  events.forEach((event, index) => {
    const { type } = event;
    expect(type === 'message_start').toBe(index === 0);
    switch (type) {
      case 'message_start':
        return expectStart(event['message'] as JsonObject);
      case 'ping':
        return;
      case 'content_block_start':
        expect([open, event['index']]).toEqual([undefined, count]);
        open = String((event['content_block'] as JsonObject)['type']);
        expect(event['content_block']).toMatchObject(OPENED[open]!);
        return;
      case 'content_block_delta':
        expect(event['index']).toBe(count);
        expect(DELTAS[open ?? '']).toContain((event['delta'] as JsonObject)['type']);
        return;
      case 'content_block_stop':
        expect([typeof open, event['index']]).toEqual(['string', count]);
        open = undefined;
        count += 1;
        return;
      default:
        throw new Error(`${String(type)} stands among the blocks.`);
    }
  });
  return { open };
}

function expectStart(message: JsonObject): void {
  expect(message).toMatchObject({
    id: expect.stringMatching(/^msg_/),
    type: 'message',
    role: 'assistant',
    model: expect.any(String),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
  });
}
