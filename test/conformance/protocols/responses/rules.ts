/** Rules that the vendor enforces (protocols.md §8.9). */

import type { JsonObject } from '../../../support/scripted-steps.js';
import { expectToolNames } from '../../../support/tool-names.js';

/** Every call is followed by an output, and every output has a call. */
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
  expectToolNames(tools, 64);
}
