/** What vendors demand of a request and refuse otherwise (protocols.md §3.2, §4.3, §8.9). */

import type { JsonObject } from './scripted-upstream.js';

interface Block extends JsonObject {
  readonly type: string;
}

/** The ordering rules of Messages. */
export function expectMessagesRules(request: JsonObject): void {
  const messages = (request['messages'] as { role: string; content: string | Block[] }[]).map(({ role, content }) => ({
    role,
    blocks: typeof content === 'string' ? [{ type: 'text', text: content } as Block] : content,
  }));
  expect(messages[0]!.role).toBe('user');
  let open: unknown[] = [];
  messages.forEach(({ role, blocks }, index) => {
    if (role !== 'system') expect(role).not.toBe(messages[index - 1]?.role);
    expect(blocks).not.toHaveLength(0);
    for (const { type, text } of blocks) if (type === 'text') expect((text as string).trim()).not.toBe('');
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => block['tool_use_id']);
    // Results come first, each for a call of the turn before, and none is missing.
    expect(blocks.slice(0, results.length).every(({ type }) => type === 'tool_result')).toBe(true);
    if (role === 'user') {
      expect([new Set(results), results.length]).toEqual([new Set(open), open.length]);
      open = [];
    }
    if (role !== 'assistant') return;
    open = blocks.filter(({ type }) => type === 'tool_use').map((block) => block['id']);
    expect(new Set(open).size).toBe(open.length);
    for (const id of open) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });
  expect(open).toEqual([]);
  expectNames((request['tools'] as JsonObject[] | undefined) ?? [], 128);
  expect(JSON.stringify(request).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
}

/** Calls of an assistant's message are answered at once, one message each. */
export function expectChatRules(request: JsonObject): void {
  const messages = request['messages'] as JsonObject[];
  let open: unknown[] = [];
  for (const message of messages) {
    if (message['role'] === 'tool') {
      expect(open).toContain(message['tool_call_id']);
      open = open.filter((id) => id !== message['tool_call_id']);
      continue;
    }
    expect(open).toEqual([]);
    const calls = message['tool_calls'] as { id: string }[] | undefined;
    expect(calls).not.toEqual([]);
    open = (calls ?? []).map(({ id }) => id);
    expect(new Set(open).size).toBe(open.length);
    for (const id of open) expect(String(id).length).toBeLessThanOrEqual(64);
    // Without content only where there is something else to it.
    if (calls === undefined && message['refusal'] === undefined) expect(message['content'] ?? '').not.toBe('');
  }
  expect(open).toEqual([]);
  const tools = (request['tools'] as { function?: JsonObject; custom?: JsonObject }[] | undefined) ?? [];
  expectNames(
    tools.map((tool) => (tool.function ?? tool.custom)!),
    64,
  );
}

/** Every call has an output behind it, and every output a call. */
export function expectResponsesRules(request: JsonObject): void {
  const open = new Set<unknown>();
  for (const { type, call_id } of request['input'] as JsonObject[]) {
    if (type === 'function_call' || type === 'custom_tool_call') {
      expect(String(call_id).length).toBeLessThanOrEqual(64);
      expect(open.has(call_id)).toBe(false);
      open.add(call_id);
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      expect(open.delete(call_id)).toBe(true);
    }
  }
  expect([...open]).toEqual([]);
  expect(request).toMatchObject({ store: false });
  const tools = ((request['tools'] as JsonObject[] | undefined) ?? []).flatMap((tool) =>
    tool['type'] === 'namespace' ? (tool['tools'] as JsonObject[]) : [tool],
  );
  for (const tool of tools) if (tool['type'] === 'function') expect(typeof tool['strict']).toBe('boolean');
  expectNames(tools, 64);
}

function expectNames(tools: readonly JsonObject[], longest: number): void {
  for (const { name } of tools) {
    expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(String(name).length).toBeLessThanOrEqual(longest);
  }
}
