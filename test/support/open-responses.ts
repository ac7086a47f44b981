/** Schemas of Open Responses 2026-04-24 (openresponses.org): what its compliance suite checks of responses and events. */

import type { Schema } from '../../src/console/home/docs/openapi/index.js';
import { schemaErrors } from './json-schema.js';
import type { JsonObject } from './scripted-steps.js';

const TEXT: Schema = { type: 'string' };
const INTEGER: Schema = { type: 'integer' };
const NUMBER: Schema = { type: ['integer', 'number'] };
const BOOLEAN: Schema = { type: 'boolean' };
const ANY: Schema = {};
const orNull = ({ type, ...others }: Schema): Schema => ({ ...others, type: [type ?? 'object', 'null'].flat() });
/** An object with at least these members. */
const having = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const named = (type: string, properties: Readonly<Record<string, Schema>>): Schema =>
  having({ type: { type: 'string', const: type }, ...properties });
const listOf = (items: Schema): Schema => ({ type: 'array', items });

const STATUS: Schema = { type: 'string', enum: ['in_progress', 'completed', 'incomplete'] };
const OUTPUT_TEXT = named('output_text', { text: TEXT, annotations: listOf({ type: 'object' }) });
const REFUSAL = named('refusal', { refusal: TEXT });
const INPUT_TEXT = named('input_text', { text: TEXT });
const PART: Schema = { oneOf: [OUTPUT_TEXT, REFUSAL, INPUT_TEXT] };
const COMPACTION = named('compaction', { id: TEXT, encrypted_content: TEXT });
const ITEM: Schema = {
  oneOf: [
    named('message', { id: TEXT, status: STATUS, role: TEXT, content: listOf(PART) }),
    named('function_call', { id: TEXT, call_id: TEXT, name: TEXT, arguments: TEXT, status: STATUS }),
    named('reasoning', { id: TEXT, summary: listOf(having({ type: TEXT, text: TEXT })) }),
    COMPACTION,
  ],
};
const USAGE = having({
  input_tokens: INTEGER,
  output_tokens: INTEGER,
  total_tokens: INTEGER,
  input_tokens_details: having({ cached_tokens: INTEGER }),
  output_tokens_details: having({ reasoning_tokens: INTEGER }),
});

const RESPONSE = having({
  id: TEXT,
  object: { type: 'string', const: 'response' },
  created_at: INTEGER,
  completed_at: orNull(INTEGER),
  status: TEXT,
  incomplete_details: orNull(having({ reason: TEXT })),
  model: TEXT,
  previous_response_id: orNull(TEXT),
  instructions: orNull(TEXT),
  output: listOf(ITEM),
  error: orNull(having({ code: TEXT, message: TEXT })),
  tools: listOf(named('function', { name: TEXT, description: ANY, parameters: ANY, strict: ANY })),
  tool_choice: { type: ['string', 'object'] },
  truncation: { type: 'string', enum: ['auto', 'disabled'] },
  parallel_tool_calls: BOOLEAN,
  text: having({ format: having({ type: TEXT }) }),
  top_p: NUMBER,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  top_logprobs: INTEGER,
  temperature: NUMBER,
  reasoning: orNull(having({ effort: orNull(TEXT), summary: orNull(TEXT) })),
  usage: orNull(USAGE),
  max_output_tokens: orNull(INTEGER),
  max_tool_calls: orNull(INTEGER),
  store: BOOLEAN,
  background: BOOLEAN,
  service_tier: TEXT,
  metadata: ANY,
  safety_identifier: orNull(TEXT),
  prompt_cache_key: orNull(TEXT),
});

const COMPACTED = having({
  id: TEXT,
  object: { type: 'string', const: 'response.compaction' },
  created_at: INTEGER,
  output: listOf(ITEM),
  usage: USAGE,
});

const ERROR = having({ type: TEXT, code: orNull(TEXT), message: TEXT, param: orNull(TEXT) });
const place = { item_id: TEXT, output_index: INTEGER };
const partPlace = { ...place, content_index: INTEGER };
const numbered = (properties: Readonly<Record<string, Schema>>): Schema =>
  having({ sequence_number: INTEGER, ...properties });
const OF_RESPONSE = numbered({ response: RESPONSE });
const OF_ITEM = numbered({ output_index: INTEGER, item: ITEM });
const OF_PART = numbered({ ...partPlace, part: PART });
const EVENTS: Readonly<Record<string, Schema>> = {
  error: having({ error: ERROR }),
  'response.created': OF_RESPONSE,
  'response.in_progress': OF_RESPONSE,
  'response.completed': OF_RESPONSE,
  'response.failed': OF_RESPONSE,
  'response.output_item.added': OF_ITEM,
  'response.output_item.done': OF_ITEM,
  'response.content_part.added': OF_PART,
  'response.content_part.done': OF_PART,
  'response.output_text.delta': numbered({ ...partPlace, delta: TEXT }),
  'response.output_text.done': numbered({ ...partPlace, text: TEXT }),
  'response.function_call_arguments.delta': numbered({ ...place, delta: TEXT }),
  'response.function_call_arguments.done': numbered({ ...place, arguments: TEXT }),
};

/** What a response has that the specification does not allow, or lacks. */
export const responseErrors = (response: unknown): string[] => schemaErrors(response, RESPONSE, {});

export const compactionErrors = (compaction: unknown): string[] => schemaErrors(compaction, COMPACTED, {});

/** The same of an event of a stream, or of a message over WebSocket. */
export function eventErrors(event: JsonObject): string[] {
  const type = String(event['type']);
  const schema = EVENTS[type];
  if (schema === undefined) return [`${type} is not an event of the specification`];
  return schemaErrors(event, schema, {});
}
