/** Scripted responses of an upstream of the Interactions API. */

import { type ResponseOptions, fillContent, type ScriptedContent } from '../../../support/scripted-content.js';
import type { JsonObject, ScriptedEvent } from '../../../support/scripted-steps.js';

const STATUSES = { end: 'completed', length: 'incomplete', tools: 'requires_action', filter: 'failed' } as const;
const BLOCKED = { code: 'content_blocked', message: 'The response was blocked by the safety filters.' };

/** Of every scripted thought, which come before tool calls and with reasoning. */
export const THOUGHT_SIGNATURE = 'c2lnbmVkIGJ5IHNjcmlwdGVkIEludGVyYWN0aW9ucw==';

/** Steps, each with its start, deltas and stop, between the events of the interaction. */
export function interactionsEvents(options: ResponseOptions = {}): ScriptedEvent[] {
  const content = fillContent(options);
  const steps = stepsOf(content);
  const begun = interaction(content, { status: 'in_progress' });
  return [
    event('interaction.created', { interaction: begun }),
    event('interaction.status_update', { interaction_id: '', status: 'in_progress' }),
    ...steps.flatMap(({ start, deltas }, index) => [
      event('step.start', { index, step: start }),
      ...deltas.map((delta) => event('step.delta', { index, delta })),
      event('step.stop', { index, ...(index === steps.length - 1 && { usage: usage(content) }) }),
    ]),
    content.stop === 'filter'
      ? event('error', { error: BLOCKED })
      : event('interaction.completed', { interaction: ended(content) }),
    { event: 'done', data: '[DONE]' },
  ];
}

export function interactionsBody(options: ResponseOptions = {}): JsonObject {
  const content = fillContent(options);
  return {
    ...ended(content),
    ...(content.stop === 'filter' && { errors: [BLOCKED] }),
    steps: stepsOf(content).map(({ whole }) => whole),
  };
}

const event = (type: string, data: JsonObject): ScriptedEvent => ({
  event: type,
  data: { ...data, event_type: type },
});

interface ScriptedStep {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
  readonly whole: JsonObject;
}

function stepsOf(content: ScriptedContent): ScriptedStep[] {
  const thinks = content.reasoning.length + content.toolCalls.length > 0;
  return [
    ...(thinks ? [thought(content.reasoning)] : []),
    ...(content.text.length > 0 ? [output(content.text)] : []),
    ...content.toolCalls.flatMap((call) => functionCall(call)),
  ];
}

function thought(pieces: readonly string[]): ScriptedStep {
  const summary = pieces.length > 0 && { summary: [{ type: 'text', text: pieces.join('') }] };
  return {
    start: { type: 'thought' },
    deltas: [
      ...pieces.map((text) => ({ type: 'thought_summary', content: { type: 'text', text } })),
      { type: 'thought_signature', signature: THOUGHT_SIGNATURE },
    ],
    whole: { type: 'thought', signature: THOUGHT_SIGNATURE, ...summary },
  };
}

const output = (pieces: readonly string[]): ScriptedStep => ({
  start: { type: 'model_output' },
  deltas: pieces.map((text) => ({ type: 'text', text })),
  whole: { type: 'model_output', content: [{ type: 'text', text: pieces.join('') }] },
});

/** Streamed arguments begin as an empty object. Truncated ones exist only in streams. */
function functionCall({ id, name, arguments: pieces }: ScriptedContent['toolCalls'][number]): ScriptedStep[] {
  const call = { id, type: 'function_call', name };
  const written = pieces.join('');
  return [
    {
      start: { ...call, signature: '', arguments: {} },
      deltas: written === '{}' ? [] : pieces.map((text) => ({ type: 'arguments_delta', arguments: text })),
      whole: { ...call, arguments: objectIn(written) },
    },
  ];
}

/** Not stored, and therefore without an ID. */
const interaction = ({ model, id }: ScriptedContent, more: JsonObject): JsonObject => ({
  id: id ?? '',
  object: 'interaction',
  model,
  ...more,
});

const ended = (content: ScriptedContent): JsonObject =>
  interaction(content, {
    status: STATUSES[content.stop],
    usage: usage(content),
    created: new Date(content.created * 1000).toISOString(),
    updated: new Date(content.created * 1000).toISOString(),
    service_tier: 'standard',
  });

/** The input includes cached tokens; the output excludes thoughts. */
function usage({ usage: { prompt, completion, reasoning, cacheRead } }: ScriptedContent): JsonObject {
  return {
    total_tokens: prompt + completion,
    total_input_tokens: prompt,
    input_tokens_by_modality: [{ modality: 'text', tokens: prompt }],
    total_cached_tokens: cacheRead,
    total_output_tokens: completion - reasoning,
    total_tool_use_tokens: 0,
    total_thought_tokens: reasoning,
  };
}

function objectIn(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}
