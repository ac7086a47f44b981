/** Responses as read by a Gemini client. */

import type { NeutralResponse } from '../../../support/neutral-response.js';
import type { JsonObject } from '../../../support/scripted-steps.js';
import { readEvents, textsIn, withoutKeepAlives } from '../../../support/stream-text.js';

const STOPS: Readonly<Record<string, NeutralResponse['stop']>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'filter',
};

interface Candidate {
  readonly content: { readonly parts?: readonly JsonObject[] };
  readonly finishReason: string;
}

export function readGeminiResponse(response: JsonObject): NeutralResponse {
  const [{ content, finishReason }] = response['candidates'] as unknown as readonly [Candidate];
  const usage = response['usageMetadata'] as Readonly<Record<string, number>>;
  // Absent in the vendor's empty responses.
  const { parts = [] } = content;
  const calls = parts.flatMap(({ functionCall }): JsonObject[] => (functionCall ? [functionCall as JsonObject] : []));
  const reasoning = usage['thoughtsTokenCount'] ?? 0;
  const stop = STOPS[finishReason]!;
  expect(usage['totalTokenCount']).toBe(usage['promptTokenCount']! + usage['candidatesTokenCount']! + reasoning);
  return {
    text: textsIn(parts.filter(({ thought }) => thought !== true).map(({ text }) => text)),
    reasoning: textsIn(parts.filter(({ thought }) => thought === true).map(({ text }) => text)),
    refusal: '',
    calls: calls.map(({ id, name, args }) => `${String(id)} ${String(name)} ${JSON.stringify(args)}`),
    // There is no reason for calls.
    stop: stop === 'end' && calls.length > 0 ? 'tools' : stop,
    usage: {
      prompt: usage['promptTokenCount']!,
      cacheRead: usage['cachedContentTokenCount'] ?? 0,
      completion: usage['candidatesTokenCount']! + reasoning,
      reasoning,
    },
  };
}

/** The unstreamed equivalent of a stream. */
export function foldedResponse(stream: string): JsonObject {
  const responses = readEvents(withoutKeepAlives(stream)).map(({ data }) => JSON.parse(data) as JsonObject);
  const candidates = responses.flatMap((response) => response['candidates'] as unknown as readonly Candidate[]);
  const parts = candidates.flatMap(({ content }) => content.parts ?? []);
  return { ...responses.at(-1), candidates: [{ ...candidates.at(-1), content: { role: 'model', parts } }] };
}
