import type { JsonFields, SseEvent } from '../contract/index.js';
import { isJsonObject } from '../../platform/shared/index.js';

// Which tools the upstream ran for an answer. Each run is an item whose type is the tool's name and `_call`; so are the
// calls that the client is asked to run itself, which nobody charges for.

const CLIENTS_OWN = 'function|custom_tool|computer|local_shell|shell|apply_patch|tool_search';
const CALL = /^([a-z][a-z0-9_]{0,63})_call$/;
const OWN = new RegExp(`^(?:${CLIENTS_OWN})$`);
/** Looked for before anything is decoded: most answers have no such item. */
const SOME_CALL = '_call"';
const UPSTREAMS_CALL = new RegExp(`"type"\\s*:\\s*"(?!(?:${CLIENTS_OWN})_call")[a-z0-9_]+_call"`);

export type ToolUses = Readonly<Record<string, number>>;

/**
 * The uses among the items at this path of an answer; undefined when there are none.
 * @param text the answer's JSON, or what holds it
 */
export function toolUsesIn(text: string, fields: JsonFields, path: string): ToolUses | undefined {
  if (!mayUseTools(text)) return undefined;
  const items = fields.field(path)?.kind === 'array' ? (fields.value(path) as readonly unknown[]) : [];
  return countTools(items);
}

/** The use that an event's `item` is, added to those before it. */
export function withItem(uses: ToolUses | undefined, event: SseEvent, read: () => unknown): ToolUses | undefined {
  return mayUseTools(event.text) ? countTools([read()], uses) : uses;
}

const mayUseTools = (text: string): boolean => text.includes(SOME_CALL) && UPSTREAMS_CALL.test(text);

/** The uses among these items, added to those before them. */
export function countTools(items: readonly unknown[], before?: ToolUses): ToolUses | undefined {
  const uses: Record<string, number> = { ...before };
  for (const item of items) {
    const tool = isJsonObject(item) ? CALL.exec(String(item['type']))?.[1] : undefined;
    if (tool !== undefined && !OWN.test(tool)) uses[tool] = (uses[tool] ?? 0) + 1;
  }
  return Object.keys(uses).length === 0 ? undefined : uses;
}
