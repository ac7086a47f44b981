/** Rules that vendors enforce (protocols.md §3.2, §8.9). */

import type { JsonObject } from '../../../support/scripted-steps.js';
import { expectToolNames } from '../../../support/tool-names.js';

/** Results directly follow their calls, one message each. */
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
    // Content may only be missing beside other members.
    if (calls === undefined && message['refusal'] === undefined) expect(message['content'] ?? '').not.toBe('');
  }
  expect(open).toEqual([]);
  const tools = (request['tools'] as { function?: JsonObject; custom?: JsonObject }[] | undefined) ?? [];
  expectToolNames(
    tools.map((tool) => (tool.function ?? tool.custom)!),
    64,
  );
}
