import {
  describeFreeform,
  FREEFORM_SCHEMA,
  notTranslatable,
  objectSchema,
  withoutRootCombinators,
  type BuildContext,
  type CallContent,
  type HostedTool,
  type Losses,
  type NameRule,
  type Tool,
  type ToolNames,
  type TreeObject,
} from '../../call/index.js';
import type { CacheMarks } from './messages.cache-marks.js';
import type { MessagesFlags } from './messages.flags.js';

export const TOOL_NAMES: NameRule = { maxLength: 128, odd: /[^a-zA-Z0-9_-]/g };

/** The tools, in their order; those that the client does not allow are not there. */
export function buildTools(
  { content, losses }: BuildContext,
  flags: MessagesFlags,
  names: ToolNames,
  marks: CacheMarks,
): readonly TreeObject[] {
  const allowed = content.toolChoice.mode === 'one' ? undefined : content.toolChoice.allowed;
  const writeTool = (tool: Tool, index: number): TreeObject[] => {
    const mark = marks.on(tool);
    if (allowed !== undefined && !allowed.includes(tool.name)) return [];
    return [
      {
        name: names.wireName(tool.name, tool.namespace),
        ...describe(tool, `tools[${index}]`, losses),
        strict: tool.strict === true && flags.takesStrictTools ? true : undefined,
        ...mark,
      },
    ];
  };
  return [...content.tools.flatMap(writeTool), ...buildHosted(content, flags, losses)];
}

/** What a tool does and takes, and in words what its schema cannot say here. */
function describe(tool: Tool, path: string, losses: Losses): TreeObject {
  if (tool.freeform !== undefined) {
    if (tool.freeform.grammar !== undefined) losses.warn('unsupported_grammar', path);
    return { description: describeFreeform(tool), input_schema: FREEFORM_SCHEMA };
  }
  const schema = objectSchema(tool.schema);
  const merged = withoutRootCombinators(schema);
  if (merged === undefined) return { description: tool.description, input_schema: schema };
  losses.warn('merged_schema', path);
  const texts = [tool.description, merged.note].filter((text) => text !== undefined);
  return { description: texts.join('\n\n') || undefined, input_schema: merged.schema };
}

function buildHosted({ tools, hostedTools }: CallContent, flags: MessagesFlags, losses: Losses): TreeObject[] {
  const isKnown = ({ type }: HostedTool): boolean => type === 'web_search' && flags.webSearch !== undefined;
  const known = hostedTools.some(isKnown);
  for (const tool of hostedTools) {
    if (isKnown(tool)) continue;
    if (tools.length === 0 && !known) throw notTranslatable(tool.path, "is run by another vendor than this model's");
    losses.warn('unsupported_tool', tool.path);
  }
  return known ? [{ type: flags.webSearch, name: 'web_search' }] : [];
}

/** @param isThinking nothing can be forced then */
export function buildToolChoice({ content, losses }: BuildContext, names: ToolNames, isThinking: boolean): TreeObject {
  const { toolChoice, parallelTools } = content;
  const parallel = { disable_parallel_tool_use: parallelTools === false ? true : undefined };
  if (toolChoice.mode === 'none') return { type: 'none' };
  if (toolChoice.mode === 'auto') return { type: 'auto', ...parallel };
  if (isThinking) {
    losses.warn('tool_not_forced', 'tool_choice');
    return { type: 'auto', ...parallel };
  }
  if (toolChoice.mode !== 'one') return { type: 'any', ...parallel };
  return { type: 'tool', name: names.wireName(toolChoice.name, toolChoice.namespace), ...parallel };
}
