import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  cacheWrites,
  type CallHead,
  countIn,
  type ImageGenerationUsage,
  type JsonFields,
  objectIn,
  openAiUsage,
  servedByIn,
  type SseEvent,
  stringOf,
  tierIn,
  type TokenUsage,
  withPasses,
} from '../contract/index.js';
import { MAX_ID_LENGTH } from './head.js';

const TOTALS = { input: 'input_tokens', output: 'output_tokens' };

/** Unknown counts are zero. Passes are included in the totals, since the protocol has none. */
export function writeUsage(reported: TokenUsage): JsonObject {
  const usage = withPasses(reported);
  const written = cacheWrites(usage);
  const { cacheWrite12h: lasting } = usage;
  return {
    input_tokens: usage.input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: written,
      ...(lasting !== undefined && {
        cache_write_tokens_details: { ttl_12h_tokens: lasting, ttl_30m_tokens: written - lasting },
      }),
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}

export const usageMembers = (parent: string): readonly string[] =>
  ['usage', 'service_tier', 'id', 'model', 'output', 'tool_usage'].map((name) => parent + name);

/**
 * @param parent `response.` within an event, else empty
 * @param toolUses hosted tools
 */
export function usageOf(
  head: CallHead,
  fields: JsonFields,
  parent: string,
  toolUses: ToolUses | undefined,
): TokenUsage | undefined {
  const member = (name: string): unknown => fields.value(parent + name);
  const usage = usageWith(fields.object(`${parent}usage`), member, toolUses);
  return usage && { ...usage, ...servedByIn(head, member('model')) };
}

/** The same for a parsed response. */
export const usageIn = (response: JsonObject, toolUses: ToolUses | undefined): TokenUsage | undefined =>
  usageWith(objectIn(response, 'usage'), (name) => response[name], toolUses);

function usageWith(
  counts: JsonObject | undefined,
  member: (name: string) => unknown,
  toolUses: ToolUses | undefined,
): TokenUsage | undefined {
  const usage = openAiUsage(counts, TOTALS);
  if (usage === undefined) return undefined;
  const id = member('id');
  return {
    ...usage,
    ...tierIn(member('service_tier')),
    ...(typeof id === 'string' && id.length <= MAX_ID_LENGTH && { responseId: id }),
    ...toolsOf(member('tool_usage'), toolUses),
  };
}

/**
 * Usage of hosted tools. `num_requests` counts billable searches and replaces counted items, which include opened
 * pages.
 */
function toolsOf(reported: unknown, counted: ToolUses | undefined): Pick<TokenUsage, 'toolUses' | 'imageGeneration'> {
  const usage = isJsonObject(reported) ? reported : {};
  const searches = countIn(objectIn(usage, 'web_search'), 'num_requests');
  const { web_search: _, ...others } = counted ?? {};
  const toolUses =
    searches === undefined ? (counted ?? {}) : { ...others, ...(searches > 0 && { web_search: searches }) };
  const imageGeneration = imageGenerationIn(objectIn(usage, 'image_gen'));
  return {
    ...(Object.keys(toolUses).length > 0 && { toolUses }),
    ...(imageGeneration && { imageGeneration }),
  };
}

/** Missing details: the rest of a prompt is text, the rest of an output images. */
function imageGenerationIn(usage: JsonObject): ImageGenerationUsage | undefined {
  const [read, written] = [countIn(usage, 'input_tokens') ?? 0, countIn(usage, 'output_tokens') ?? 0];
  const [input, output] = [objectIn(usage, 'input_tokens_details'), objectIn(usage, 'output_tokens_details')];
  const imageInput = countIn(input, 'image_tokens') ?? 0;
  const textInput = Math.max(countIn(input, 'text_tokens') ?? 0, read - imageInput);
  const textOutput = countIn(output, 'text_tokens') ?? 0;
  const imageOutput = Math.max(countIn(output, 'image_tokens') ?? 0, written - textOutput);
  const isUsed = textInput + imageInput + textOutput + imageOutput > 0;
  return isUsed ? { textInput, imageInput, textOutput, imageOutput } : undefined;
}

// Each use of a hosted tool is an item with the tool's name plus `_call` as type, as are client-run calls, which are
// free. Only its environment tells who runs a `shell_call`.

const CLIENTS_OWN = 'function|custom_tool|computer|local_shell|apply_patch|tool_search';
const CALL = /^([a-z][a-z0-9_]{0,63})_call$/;
const OWN = new RegExp(`^(?:${CLIENTS_OWN})$`);
/** Searched before decoding: most responses have no such item. */
const SOME_CALL = '_call"';
const UPSTREAMS_CALL = new RegExp(`"type"\\s*:\\s*"(?!(?:${CLIENTS_OWN})_call")[a-z0-9_]+_call"`);

export type ToolUses = Readonly<Record<string, number>>;

/** @param text JSON that contains the response */
export function toolUsesIn(text: string, fields: JsonFields, path: string): ToolUses | undefined {
  if (!mayUseTools(text)) return undefined;
  const items = fields.field(path)?.kind === 'array' ? (fields.value(path) as readonly unknown[]) : [];
  return countTools(items);
}

/** Adds an event's `item`, if it is a use. */
export function withItem(uses: ToolUses | undefined, event: SseEvent, read: () => unknown): ToolUses | undefined {
  return mayUseTools(event.text) ? countTools([read()], uses) : uses;
}

const mayUseTools = (text: string): boolean => text.includes(SOME_CALL) && UPSTREAMS_CALL.test(text);

export function countTools(items: readonly unknown[], before?: ToolUses): ToolUses | undefined {
  const uses: Record<string, number> = { ...before };
  for (const item of items) {
    const tool = isJsonObject(item) ? toolOf(item) : undefined;
    if (tool !== undefined) uses[tool] = (uses[tool] ?? 0) + 1;
  }
  return Object.keys(uses).length === 0 ? undefined : uses;
}

/** The hosted tool that the item is a use of. */
function toolOf(item: JsonObject): string | undefined {
  const tool = CALL.exec(stringOf(item['type']))?.[1];
  if (tool === undefined || OWN.test(tool)) return undefined;
  return tool === 'shell' && isLocalShell(objectIn(item, 'environment')['type']) ? undefined : tool;
}

/** Whether the client runs a `shell_call`, by the type of its environment. */
export const isLocalShell = (environment: unknown): boolean => (environment ?? 'local') === 'local';
