/** Grammar of a stream: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */

import type { JsonObject } from '../../../support/scripted-steps.js';
import type { ReadEvent } from '../../../support/stream-text.js';

const ANY_STRING = expect.any(String) as unknown;
const COUNT = expect.any(Number) as unknown;

/** Whole responses; the last has the reason and the usage. */
export function expectGeminiStream(events: readonly ReadEvent[]): void {
  const sent = events.map(responseIn);
  expect(sent).not.toHaveLength(0);
  sent.forEach((response, index) => expectResponse(response, index === sent.length - 1));
}

export function expectResponse(response: JsonObject, isLast: boolean): void {
  expect(response).toMatchObject({ modelVersion: ANY_STRING, responseId: ANY_STRING });
  const candidates = response['candidates'] as readonly JsonObject[];
  expect(candidates).toHaveLength(1);
  const { content, finishReason, index } = candidates[0] as {
    readonly content: { readonly role: string; readonly parts: readonly JsonObject[] };
    readonly finishReason?: string;
    readonly index: number;
  };
  expect([content.role, index]).toEqual(['model', 0]);
  // Clients drop responses without parts from their history.
  expect(content.parts).not.toHaveLength(0);
  for (const part of content.parts) expectPart(part);
  expect(typeof finishReason).toBe(isLast ? 'string' : 'undefined');
  if (isLast)
    expect(response['usageMetadata']).toMatchObject({
      promptTokenCount: COUNT,
      candidatesTokenCount: COUNT,
      totalTokenCount: COUNT,
    });
}

function expectPart(part: JsonObject): void {
  expect(['text', 'functionCall'].filter((name) => name in part)).toHaveLength(1);
  const { functionCall, thoughtSignature } = part;
  if (functionCall !== undefined)
    expect(functionCall).toEqual({ id: ANY_STRING, name: ANY_STRING, args: expect.any(Object) as unknown });
  // Standard base64, which some clients decode.
  if (thoughtSignature !== undefined) expect(thoughtSignature).toMatch(/^(?:[\w+/]{4})+(?:[\w+/]{2}==|[\w+/]{3}=)?$/);
}

/** A failed stream ends with one error and no reason. */
export function expectGeminiFailure(before: readonly ReadEvent[], ending: readonly ReadEvent[]): void {
  for (const event of before) expectResponse(responseIn(event), false);
  expect(ending).toHaveLength(1);
  expect(responseIn(ending[0]!)).toEqual({
    error: { code: COUNT, message: ANY_STRING, status: expect.stringMatching(/^[A-Z_]+$/), details: expect.any(Array) },
  });
}

/** Events have no name. */
function responseIn({ event, data }: ReadEvent): JsonObject {
  expect(event).toBeUndefined();
  return JSON.parse(data) as JsonObject;
}
