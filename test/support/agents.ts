/**
 * What agents sent, each text and list in it cut short: Codex 0.169.0 as its own kind of provider with a model that it
 * does not know (`codex`) and one that it does (`codex-freeform`), as its built-in provider with its newest model
 * (`codex-built-in`), Claude Code 2.1.328. And how they go on from a response. Tests that say `agents N` show the Nth of the
 * things that agents need of a relay: 1 no WebSockets, 2 keys, 3 versions, 4 threads, 5 instructions and members that
 * only the vendor knows, 6 tools, 7 compaction, 8 signed reasoning, 9 errors, 10 broken streams, 11 an end to retries,
 * 12 no questions about trifles.
 */

import { readFileSync } from 'node:fs';
import type { JsonObject } from './scripted-upstream.js';

export type AgentRequest = 'codex' | 'codex-freeform' | 'codex-built-in' | 'claude-code';

/** The first request of a conversation, for another model. */
export function agentRequest(name: AgentRequest, model: string): JsonObject {
  const text = readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8');
  return { ...(JSON.parse(text) as JsonObject), model };
}

/** What Codex asks next: all items of the response, then what became of each call. */
export function codexGoesOn(request: JsonObject, output: readonly JsonObject[], result: string): JsonObject {
  const input = request['input'] as readonly JsonObject[];
  const items = output.map((item) => (item['type'] === 'reasoning' ? { ...item, content: null } : item));
  return { ...request, input: [...input, ...items, ...output.flatMap((item) => resultOf(item, result))] };
}

/** Of calls of freeform tools it is a list. */
function resultOf({ type, call_id }: JsonObject, text: string): JsonObject[] {
  if (type === 'function_call')
    return [{ type: 'function_call_output', id: `fco_${String(call_id)}`, call_id, output: text }];
  const output = [{ type: 'input_text', text }];
  return type === 'custom_tool_call' ? [{ type: 'custom_tool_call_output', call_id, output }] : [];
}

/** What Claude Code asks next: the response as it came, then what became of each call; the mark of the cache moves on. */
export function claudeGoesOn(
  request: JsonObject,
  content: readonly JsonObject[],
  result: string | readonly JsonObject[],
): JsonObject {
  const calls = content.filter(({ type }) => type === 'tool_use');
  const results = calls.map(({ id }) => ({
    tool_use_id: id,
    type: 'tool_result',
    content: result,
    is_error: false,
    cache_control: { type: 'ephemeral' },
  }));
  const messages = request['messages'] as readonly JsonObject[];
  return { ...request, messages: [...messages, { role: 'assistant', content }, { role: 'user', content: results }] };
}
