import {
  allowedTools,
  type CallContent,
  describedWith,
  describeFreeform,
  FREEFORM_SCHEMA,
  type JsonTree,
  type KnownTool,
  type TranslationWarnings,
  objectSchema,
  runTools,
  type Tool,
  type ToolNames,
  type TreeObject,
  withoutRootCombinators,
} from '../contract/index.js';
import type { ChatFlags } from './chat-completions.flags.js';

interface ToolContext {
  readonly flags: ChatFlags;
  readonly names: ToolNames;
  readonly losses: TranslationWarnings;
}

/** The tools and how they may be called. Without tools nothing is said of calling them. */
export function buildTools(content: CallContent, context: ToolContext): TreeObject {
  const hosted = buildHosted(content, context);
  // All of them, where the upstream can be told which of them may be called.
  const tools = context.flags.allowedTools ? content.tools : allowedTools(content);
  if (tools.length === 0) return hosted;
  return {
    tools: tools.map((tool) => buildTool(tool, context)),
    tool_choice: buildChoice(content, context),
    parallel_tool_calls: content.parallelTools,
    ...hosted,
  };
}

function buildTool(tool: Tool, { flags, names, losses }: ToolContext): TreeObject {
  const name = names.wireName(tool.name, tool.namespace);
  const { description, freeform } = tool;
  if (freeform === undefined) return { type: 'function', function: buildFunction(tool, name, { flags, losses }) };
  const { grammar } = freeform;
  if (flags.customTools) {
    const format = grammar === undefined ? undefined : { type: 'grammar', grammar: { ...grammar } };
    return { type: 'custom', custom: { name, description, format } };
  }
  if (grammar !== undefined) losses.warn('in_words', tool.path);
  return {
    type: 'function',
    function: { name, description: describeFreeform(tool), parameters: FREEFORM_SCHEMA },
  };
}

function buildFunction(
  { description, schema, strict, path }: Tool,
  name: string,
  { flags, losses }: Pick<ToolContext, 'flags' | 'losses'>,
): TreeObject {
  const parameters = objectSchema(schema);
  const isStrict = flags.strictSchema ? strict : undefined;
  // Only who promises to obey a schema refuses alternatives at its root.
  const merged = isStrict === true ? withoutRootCombinators(parameters) : undefined;
  if (merged === undefined) return { name, description, parameters, strict: isStrict };
  losses.warn('schema_merged', path);
  return { name, description: describedWith(description, merged.note), parameters: merged.schema, strict: isStrict };
}

function buildChoice(content: CallContent, { flags, names }: ToolContext): JsonTree {
  const reference = ({ name, namespace, freeform }: KnownTool): TreeObject => {
    const type = freeform !== undefined && flags.customTools ? 'custom' : 'function';
    return { type, [type]: { name: names.wireName(name, namespace) } };
  };
  const { tools, toolChoice } = content;
  if (toolChoice.mode === 'one') {
    const { name, namespace } = toolChoice;
    const tool = tools.find((known) => known.name === name && known.namespace === namespace);
    return reference(tool ?? { name, namespace });
  }
  const { mode, allowed } = toolChoice;
  if (allowed === undefined || !flags.allowedTools) return mode;
  const chosen = allowedTools(content).map(reference);
  return { type: 'allowed_tools', allowed_tools: { mode, tools: chosen } };
}

function buildHosted(content: CallContent, { flags, losses }: ToolContext): TreeObject {
  const run = runTools(content, ({ type }) => type === 'web_search' && flags.hostedWebSearch, losses);
  return run.length > 0 ? { web_search_options: {} } : {};
}
