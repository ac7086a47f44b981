/** Scripted responses of a Gemini upstream. */

import { type ResponseOptions, fillContent, type ScriptedContent } from '../../../support/scripted-content.js';
import type { JsonObject, ScriptedEvent } from '../../../support/scripted-steps.js';

const FINISH_REASONS = { end: 'STOP', length: 'MAX_TOKENS', tools: 'STOP', filter: 'SAFETY' } as const;

/** On the first call of every scripted response, and after a text with reasoning. */
export const THOUGHT_SIGNATURE = 'c2lnbmVkIGJ5IGEgc2NyaXB0ZWQgR2VtaW5p';

/** Each event is a whole response with a piece; there is no end marker. */
export function geminiEvents(options: ResponseOptions = {}): ScriptedEvent[] {
  const content = fillContent(options);
  const pieces = [
    ...content.reasoning.map((text) => [{ text, thought: true }]),
    ...content.text.map((text) => [{ text }]),
    ...callParts(content).map((part) => [part]),
  ];
  return [
    ...pieces.map((parts) => response(content, { content: { parts, role: 'model' } }, provisionalUsage(content))),
    response(
      content,
      { content: { parts: [lastPart(content)], role: 'model' }, finishReason: FINISH_REASONS[content.stop] },
      usage(content),
    ),
  ].map((data) => ({ data }));
}

export function geminiBody(options: ResponseOptions = {}): JsonObject {
  const content = fillContent(options);
  const { reasoning, text } = content;
  const parts = [
    ...(reasoning.length > 0 ? [{ text: reasoning.join(''), thought: true }] : []),
    ...(text.length > 0 ? [{ text: text.join(''), ...textSignature(content) }] : []),
    ...callParts(content),
  ];
  // An empty response has no list of parts.
  const said = { role: 'model', ...(parts.length > 0 && { parts }) };
  return response(content, { content: said, finishReason: FINISH_REASONS[content.stop] }, usage(content));
}

/** Calls are complete, so truncated ones are missing. Only the first of parallel ones is signed. */
const callParts = ({ toolCalls }: ScriptedContent): JsonObject[] =>
  toolCalls.flatMap(({ id, name, arguments: fragments }, index) => {
    const args = objectIn(fragments.join(''));
    if (args === undefined) return [];
    return [{ functionCall: { name, args, id }, ...(index === 0 && { thoughtSignature: THOUGHT_SIGNATURE }) }];
  });

/** In streams, the signature of a text follows on an empty part. */
const lastPart = (content: ScriptedContent): JsonObject => ({ text: '', ...textSignature(content) });

const textSignature = ({ reasoning, toolCalls }: ScriptedContent): JsonObject =>
  reasoning.length > 0 && toolCalls.length === 0 ? { thoughtSignature: THOUGHT_SIGNATURE } : {};

function response(content: ScriptedContent, candidate: JsonObject, usageMetadata: JsonObject): JsonObject {
  return {
    candidates: [{ ...candidate, index: 0 }],
    usageMetadata,
    modelVersion: content.model,
    responseId: content.id ?? 'response-1',
  };
}

/** Candidates are only counted at the end. */
const provisionalUsage = ({ usage: { prompt } }: ScriptedContent): JsonObject => ({
  promptTokenCount: prompt,
  totalTokenCount: prompt,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
});

/** The prompt includes cached tokens; candidates exclude reasoning. */
function usage({ usage: counts }: ScriptedContent): JsonObject {
  return {
    promptTokenCount: counts.prompt,
    candidatesTokenCount: counts.completion - counts.reasoning,
    totalTokenCount: counts.prompt + counts.completion,
    ...(counts.cacheRead > 0 && { cachedContentTokenCount: counts.cacheRead }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: counts.prompt }],
    ...(counts.reasoning > 0 && { thoughtsTokenCount: counts.reasoning }),
  };
}

function objectIn(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}
