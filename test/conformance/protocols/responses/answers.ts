/** Scripted responses of a Responses upstream. */

import { type ResponseOptions, fillContent, type ScriptedContent } from '../../../support/scripted-content.js';
import type { JsonObject, ScriptedEvent } from '../../../support/scripted-steps.js';
import { type Item, items } from './items.js';

export interface ResponsesResponseOptions extends ResponseOptions {
  /** Merged into the response object in every state. */
  readonly response?: JsonObject;
}

const STATUSES = { end: 'completed', tools: 'completed', length: 'incomplete', filter: 'incomplete' } as const;
const INCOMPLETE_REASONS = { end: null, tools: null, length: 'max_output_tokens', filter: 'content_filter' } as const;

/** Response members with default settings. */
const DEFAULTS: JsonObject = {
  completed_at: null,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  background: false,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  truncation: 'disabled',
  usage: null,
  safety_identifier: null,
  prompt_cache_key: null,
  metadata: {},
};

/** Includes `[DONE]`. */
export function responsesEvents(options: ResponsesResponseOptions = {}): ScriptedEvent[] {
  const content = fillContent(options);
  const started = responseObject(content, options, { status: 'in_progress', output: [] });
  return [
    ...numbered([
      { type: 'response.created', response: started },
      { type: 'response.in_progress', response: started },
      ...items(content).flatMap(itemEvents),
      { type: `response.${STATUSES[content.stop]}`, response: responsesBody(options) },
    ]),
    { data: '[DONE]' },
  ];
}

/** The response object in its final state. */
export function responsesBody(options: ResponsesResponseOptions = {}): JsonObject {
  const content = fillContent(options);
  const reason = INCOMPLETE_REASONS[content.stop];
  return responseObject(content, options, {
    status: STATUSES[content.stop],
    completed_at: reason === null ? content.created : null,
    incomplete_details: reason === null ? null : { reason },
    output: items(content).map((item) => item.whole),
    usage: usage(content),
  });
}

/** A failed stream: an `error` event in both forms, then `response.failed`, numbered from `sequence`. */
export function responsesFailure(message: string, code: string, sequence: number): ScriptedEvent[] {
  const error = { type: code, code, message, param: null };
  const response = responseObject(fillContent({}), {}, { status: 'failed', output: [], error: { code, message } });
  const events = [
    { type: 'error', code, message, param: null, error },
    { type: 'response.failed', response },
  ];
  return [...numbered(events, sequence), { data: '[DONE]' }];
}

function itemEvents(item: Item, output_index: number): (JsonObject & { readonly type: string })[] {
  return [
    { type: 'response.output_item.added', output_index, item: item.added },
    ...item.body.map(({ type, ...fields }) => ({ type, item_id: item.whole['id'], output_index, ...fields })),
    { type: 'response.output_item.done', output_index, item: item.whole },
  ];
}

/** Inserts `sequence_number` after `type` and names events by type. */
function numbered(events: readonly (JsonObject & { readonly type: string })[], from = 0): ScriptedEvent[] {
  return events.map(({ type, ...fields }, index) => ({
    event: type,
    data: { type, sequence_number: from + index, ...fields },
  }));
}

function responseObject(content: ScriptedContent, options: ResponsesResponseOptions, state: JsonObject): JsonObject {
  return {
    id: content.id ?? 'resp_1',
    object: 'response',
    created_at: content.created,
    model: content.model,
    ...DEFAULTS,
    ...state,
    ...options.response,
  };
}

function usage({ usage: counts }: ScriptedContent): JsonObject {
  return {
    input_tokens: counts.prompt,
    input_tokens_details: { cached_tokens: counts.cacheRead, cache_write_tokens: counts.cacheWrite },
    output_tokens: counts.completion,
    output_tokens_details: { reasoning_tokens: counts.reasoning },
    total_tokens: counts.prompt + counts.completion,
  };
}
