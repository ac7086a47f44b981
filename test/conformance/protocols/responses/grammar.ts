/** Grammar of a Responses stream (protocols.md §2.4 and §2.5), as checked by the strictest client. */

import type { JsonObject } from '../../../support/scripted-steps.js';
import type { ReadEvent } from '../../../support/stream-text.js';

/** Required members that are never null, and those that may be. */
const NEVER_NULL = `id object created_at status model output tools tool_choice truncation parallel_tool_calls text
  temperature top_p presence_penalty frequency_penalty top_logprobs store background service_tier metadata`.split(
  /\s+/,
);
const NULLABLE = `completed_at error incomplete_details instructions max_output_tokens max_tool_calls
  previous_response_id reasoning usage safety_identifier prompt_cache_key`.split(/\s+/);

/** Members of complete items by type; validators reject unknown ones. */
const ITEM_MEMBERS: Readonly<Record<string, readonly [required: string[], optional: string[]]>> = {
  message: [['type', 'id', 'status', 'role', 'content'], []],
  function_call: [['type', 'id', 'call_id', 'name', 'arguments', 'status'], ['namespace']],
  custom_tool_call: [
    ['type', 'id', 'call_id', 'name', 'input'],
    ['namespace', 'status'],
  ],
  reasoning: [
    ['type', 'id', 'summary'],
    ['encrypted_content', 'status'],
  ],
  shell_call: [['type', 'id', 'call_id', 'action', 'environment', 'status'], []],
  local_shell_call: [['type', 'id', 'call_id', 'action', 'status'], []],
  apply_patch_call: [['type', 'id', 'call_id', 'operation', 'status'], []],
  tool_search_call: [['type', 'id', 'call_id', 'execution', 'arguments', 'status'], []],
};
/** Events without the ID of their item. */
const UNNAMED = 'shell_call_command.';

/** From `response.created` to the marker. */
export function expectResponsesStream(events: readonly ReadEvent[]): void {
  expect(events.at(-1)).toEqual({ event: undefined, data: '[DONE]' });
  const sent = numbered(events.slice(0, -1));
  expect(sent[0]).toMatchObject({ type: 'response.created', response: { status: 'in_progress', output: [] } });
  const walk = new ItemWalk();
  for (const event of sent) {
    if (event['response'] !== undefined) expectResponse(event['response'] as JsonObject);
    walk.next(event);
  }
  const last = sent.at(-1)!;
  const response = last['response'] as JsonObject;
  expect(['response.completed', 'response.incomplete']).toContain(last['type']);
  expect(last['type']).toBe(`response.${String(response['status'])}`);
  expect(response['output']).toEqual(walk.done);
  expect(response['usage']).not.toBeNull();
  expect(walk.open).toBeUndefined();
  expect(sent.filter(({ response: lifecycle }) => lifecycle !== undefined).length).toBeLessThanOrEqual(3);
}

/** A failed stream ends with the error in both forms, the failed response and the marker. */
export function expectResponsesFailure(before: readonly ReadEvent[], ending: readonly ReadEvent[]): void {
  expect(ending.map(({ event, data }) => event ?? data)).toEqual(['error', 'response.failed', '[DONE]']);
  const sent = numbered([...before, ...ending.slice(0, -1)]);
  const [error, failed] = sent.slice(-2) as [JsonObject, JsonObject];
  const { code, message, param } = error;
  expect(error).toMatchObject({ type: 'error', error: { type: expect.any(String), code, message, param } });
  expect([typeof code, typeof message]).toEqual(['string', 'string']);
  const response = failed['response'] as JsonObject;
  expectResponse(response);
  const walk = new ItemWalk();
  for (const event of sent.slice(0, -2)) walk.next(event);
  // Contains finished items only.
  expect(response).toMatchObject({ status: 'failed', error: { code, message }, output: walk.done });
}

/** All required members and complete usage. */
export function expectResponse(response: JsonObject): void {
  expect(Object.keys(response)).toEqual(expect.arrayContaining([...NEVER_NULL, ...NULLABLE]));
  for (const name of NEVER_NULL) expect([name, response[name] ?? null]).not.toEqual([name, null]);
  expect(response).toMatchObject({ id: expect.stringMatching(/^resp_/), object: 'response' });
  expect(Number.isSafeInteger(response['created_at'])).toBe(true);
  expect(Array.isArray(response['output'])).toBe(true);
  if (response['usage'] !== null) expectUsage(response['usage'] as JsonObject);
  if (response['status'] !== 'completed') expect(response['completed_at']).toBeNull();
  const ids = (response['output'] as JsonObject[]).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const item of response['output'] as JsonObject[]) expectItem(item);
}

function expectUsage(usage: JsonObject): void {
  const count: unknown = expect.any(Number);
  expect(usage).toMatchObject({
    input_tokens: count,
    input_tokens_details: { cached_tokens: count },
    output_tokens: count,
    output_tokens_details: { reasoning_tokens: count },
    total_tokens: (usage['input_tokens'] as number) + (usage['output_tokens'] as number),
  });
}

function expectItem(item: JsonObject): void {
  expect(Object.keys(ITEM_MEMBERS)).toContain(item['type']);
  const [required, optional] = ITEM_MEMBERS[item['type'] as string]!;
  expect(Object.keys(item)).toEqual(expect.arrayContaining(required));
  expect([...required, ...optional]).toEqual(expect.arrayContaining(Object.keys(item)));
  // Optional null members fail validation.
  for (const name of optional) expect(item[name]).not.toBeNull();
}

/** Events are named by type and numbered consecutively. */
function numbered(events: readonly ReadEvent[]): JsonObject[] {
  return events.map(({ event, data }, index) => {
    const parsed = JSON.parse(data) as JsonObject;
    expect([parsed['type'], parsed['sequence_number']]).toEqual([event, index]);
    return parsed;
  });
}

/** Each item is added once, has deltas of its type and is done once. */
class ItemWalk {
  readonly done: JsonObject[] = [];
  open: { readonly item: JsonObject; texts: Map<string, string> } | undefined;

  next(event: JsonObject): void {
    const type = String(event['type']).replace(/^response\./, '');
    if (type === 'output_item.added') return this.added(event);
    if (event['output_index'] === undefined) return;
    expect(this.open).toBeDefined();
    expect(event['output_index']).toBe(this.done.length);
    if (type === 'output_item.done') return this.finish(event['item'] as JsonObject);
    expect(event['item_id']).toBe(type.startsWith(UNNAMED) ? undefined : this.open!.item['id']);
    this.filled(type, event);
  }

  private added(event: JsonObject): void {
    expect(this.open).toBeUndefined();
    expect(event['output_index']).toBe(this.done.length);
    this.open = { item: event['item'] as JsonObject, texts: new Map() };
  }

  private filled(type: string, event: JsonObject): void {
    const [what = '', how = ''] = type.split(/\.(?=[a-z]+$)/);
    const key = `${what}:${Number(event['content_index'] ?? event['summary_index'] ?? event['command_index'] ?? 0)}`;
    const { texts } = this.open!;
    if (what.endsWith('_part')) {
      expect([how, texts.has(key)]).toEqual([how, how === 'done']);
      texts.set(key, '');
      return;
    }
    if (what === 'output_text.annotation' || how === 'added') return;
    const part = {
      output_text: 'content_part',
      refusal: 'content_part',
      reasoning_summary_text: 'reasoning_summary_part',
    }[what];
    if (part !== undefined) expect(texts.has(key.replace(what, part))).toBe(true);
    if (how === 'delta') texts.set(key, (texts.get(key) ?? '') + String(event['delta']));
    else {
      const { text, refusal, arguments: args, input, command } = event;
      expect(text ?? refusal ?? args ?? input ?? command).toBe(texts.get(key) ?? '');
    }
  }

  private finish(item: JsonObject): void {
    expectItem(item);
    expect([item['type'], item['id']]).toEqual([this.open!.item['type'], this.open!.item['id']]);
    this.done.push(item);
    this.open = undefined;
  }
}
