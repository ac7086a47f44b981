/** Grammar of a Chat Completions stream (protocols.md §3.4), as checked by the strictest client. */

import type { JsonObject } from '../../../support/scripted-steps.js';
import type { ReadEvent } from '../../../support/stream-text.js';

interface Chunk extends JsonObject {
  readonly choices: readonly { readonly delta: JsonObject; readonly finish_reason: string | null }[];
}

/** Checks a complete stream. @param requested whether the client requested usage */
export function expectChatStream(events: readonly ReadEvent[], requested: boolean): void {
  expect(events.at(-1)).toEqual({ event: undefined, data: '[DONE]' });
  const chunks = chunksOf(events.slice(0, -1));
  const usage = requested ? chunks.pop() : undefined;
  if (requested) {
    expect(usage).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) as unknown } });
    for (const chunk of chunks) expect(chunk).toHaveProperty('usage', null);
  } else for (const chunk of chunks) expect(chunk['usage'] ?? null).toBeNull();
  expectDeltas(chunks);
  expect(chunks.filter(({ choices }) => choices[0]!.finish_reason !== null)).toHaveLength(1);
  const { delta, finish_reason } = chunks.at(-1)!.choices[0]!;
  expect([delta, finish_reason]).toEqual([{}, expect.any(String)]);
}

/** A failed stream ends with one error, without finish reason and marker. */
export function expectChatFailure(before: readonly ReadEvent[], ending: readonly ReadEvent[]): void {
  expectDeltas(chunksOf(before));
  expect(ending).toHaveLength(1);
  expect(ending[0]!.event).toBeUndefined();
  const { error } = JSON.parse(ending[0]!.data) as { readonly error: JsonObject };
  expect(Object.keys(error).toSorted()).toEqual(['code', 'message', 'param', 'type']);
}

function chunksOf(events: readonly ReadEvent[]): Chunk[] {
  const chunks = events.map(({ event, data }) => {
    expect(event).toBeUndefined();
    return JSON.parse(data) as Chunk;
  });
  const stamps = chunks.map(({ id, object, created, model }) => JSON.stringify([id, object, created, model]));
  expect(new Set(stamps).size).toBeLessThanOrEqual(1);
  if (chunks[0]) {
    expect(chunks[0]).toMatchObject({ id: expect.stringMatching(/^chatcmpl-/), object: 'chat.completion.chunk' });
  }
  for (const chunk of chunks) expect(chunk['error'] ?? null).toBeNull();
  return chunks;
}

/** The role comes first and once; calls are numbered from 0, named once, and end with arguments. */
function expectDeltas(chunks: readonly Chunk[]): void {
  const calls: string[] = [];
  chunks.forEach(({ choices }, index) => {
    expect(choices).toHaveLength(1);
    const { delta, finish_reason } = choices[0]!;
    expect(delta['role']).toBe(index === 0 ? 'assistant' : undefined);
    for (const call of (delta['tool_calls'] ?? []) as JsonObject[]) expectFragment(call, calls);
    if (finish_reason !== null) for (const text of calls) expect(text).not.toBe('');
  });
}

function expectFragment(call: JsonObject, calls: string[]): void {
  const index = call['index'] as number;
  const body = (call['function'] ?? call['custom']) as JsonObject;
  if (index === calls.length) {
    expect(call).toMatchObject({ id: expect.stringMatching(/./), type: expect.stringMatching(/^(function|custom)$/) });
    expect(body['name']).toEqual(expect.stringMatching(/./));
    calls.push('');
  } else {
    // Strict clients treat a repeated ID, type or name as another call.
    expect(index).toBe(calls.length - 1);
    expect([Object.keys(call).length, Object.keys(body).length]).toEqual([2, 1]);
  }
  calls[index] += String(body['arguments'] ?? body['input']);
}
