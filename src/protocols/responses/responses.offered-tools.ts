import {
  allowedTools,
  objectSchema,
  runTools,
  type BuildContext,
  type CallContent,
  type Tool,
  type ToolNames,
  type TreeObject,
} from '../contract/index.js';
import type { ResponsesFlags } from './responses.flags.js';

const WEB_SEARCH = 'web_search';

/** The members of a request that are about tools; none when it has none. */
export function buildTools({ content, losses }: BuildContext, flags: ResponsesFlags, names: ToolNames): TreeObject {
  const hosted = runTools(content, ({ type }) => type === WEB_SEARCH && flags.searchesWeb, losses);
  const isFiltered = !flags.takesAllowedTools;
  const offered = isFiltered ? allowedTools(content) : content.tools;
  const tools = [...offeredTools(offered, names), ...hosted.map(({ type }) => ({ type }))];
  if (tools.length === 0) return {};
  return {
    tools,
    tool_choice: choiceOf(content, names, isFiltered),
    parallel_tool_calls: content.parallelTools,
    max_tool_calls: hosted[0]?.maxUses,
  };
}

/** Those of one namespace stand together, where the first of them does. */
function offeredTools(tools: readonly Tool[], names: ToolNames): readonly TreeObject[] {
  return tools.flatMap((tool): readonly TreeObject[] => {
    const { namespace, namespaceDescription: description } = tool;
    if (namespace === undefined) return [toolOf(tool, names)];
    const members = tools.filter((other) => other.namespace === namespace);
    if (members[0] !== tool) return [];
    const definitions = members.map((member) => toolOf(member, names));
    return [{ type: 'namespace', name: namespace, description, tools: definitions }];
  });
}

function toolOf(tool: Tool, names: ToolNames): TreeObject {
  const named = { name: names.wireName(tool.name), description: tool.description };
  if (tool.freeform !== undefined) return { type: 'custom', ...named, format: formatOf(tool.freeform) };
  // Left out, strictness would make every property of the schema required.
  return { type: 'function', ...named, parameters: objectSchema(tool.schema), strict: tool.strict ?? false };
}

const formatOf = ({ grammar }: NonNullable<Tool['freeform']>): TreeObject =>
  grammar === undefined ? { type: 'text' } : { type: 'grammar', ...grammar };

function choiceOf(content: CallContent, names: ToolNames, isFiltered: boolean): string | TreeObject {
  const { toolChoice: choice, tools } = content;
  if (choice.mode === 'one') {
    const chosen = tools.find(({ name, namespace }) => name === choice.name && namespace === choice.namespace);
    return namedOf(chosen ?? choice, names);
  }
  const { allowed, mode } = choice;
  if (allowed === undefined || isFiltered) return mode;
  const named = allowedTools(content).map((tool) => namedOf(tool, names));
  return { type: 'allowed_tools', mode, tools: named };
}

const namedOf = (
  { name, namespace, freeform }: Pick<Tool, 'name' | 'namespace' | 'freeform'>,
  names: ToolNames,
): TreeObject => ({
  type: freeform === undefined ? 'function' : 'custom',
  namespace,
  name: names.wireName(name),
});
