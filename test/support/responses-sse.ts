/** Events of Responses upstreams, as the specs of their decoder write them. */

import type { JsonObject } from '../../src/platform/shared/index.js';
import type { Event } from './responses-streams.js';

export const created: Event = {
  type: 'response.created',
  response: { id: 'resp_1', status: 'in_progress', output: [] },
};
export const completed = (response: JsonObject = {}): Event => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output: [], ...response },
});
export const added = (output_index: number, item: JsonObject): Event => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
export const done = (output_index: number, item: JsonObject): Event => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
export const message = (text: string): JsonObject => ({
  type: 'message',
  id: 'msg_a',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
export const called = (id: string, text: unknown, overrides: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'get_weather',
  arguments: text,
  ...overrides,
});
export const said = (delta: string): Event => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  item_id: 'msg_a',
  delta,
});
export const usage = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
};
