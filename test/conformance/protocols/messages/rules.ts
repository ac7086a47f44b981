/** Rules that the vendor enforces (protocols.md §4.3, §8.9). */

import type { JsonObject } from '../../../support/scripted-steps.js';
import { expectToolNames } from '../../../support/tool-names.js';

interface Block extends JsonObject {
  readonly type: string;
}

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
    // Results come first, one for each call of the previous turn.
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
  expectToolNames((request['tools'] as JsonObject[] | undefined) ?? [], 128);
  expect(JSON.stringify(request).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
}
