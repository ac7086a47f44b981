import {
  allowedTools,
  describeFreeform,
  FREEFORM_SCHEMA,
  objectSchema,
  runTools,
  type Tool,
  type TreeObject,
} from '../contract/index.js';
import type { RequestBuild } from './gemini.build-context.js';

/** The tools and how they may be called. Without tools nothing is said of calling them. */
export function buildTools(build: RequestBuild): TreeObject {
  const { content, flags, losses } = build;
  // Beside functions a search leaves traces in the answer that have to come back, for which no client has a place.
  const searches = flags.searchesWeb && content.tools.length === 0;
  const hosted = runTools(content, ({ type }) => searches && type === 'web_search', losses);
  const functions = offeredTools(build).map((tool) => declare(tool, build));
  // A search alone cannot be forbidden but by leaving it out.
  const isOffered = hosted.length > 0 && content.toolChoice.mode !== 'none';
  if (functions.length === 0) return isOffered ? { tools: [{ googleSearch: {} }] } : {};
  const calling = buildCalling(build);
  return {
    tools: [{ functionDeclarations: functions }],
    ...(calling !== undefined && { toolConfig: { functionCallingConfig: calling } }),
  };
}

/** All of them where the choice can be narrowed: that is only where one must be called. */
const offeredTools = ({ content }: RequestBuild): readonly Tool[] =>
  content.toolChoice.mode === 'auto' ? allowedTools(content) : content.tools;

/** `strict` has no counterpart; arguments are mostly as the schema wants them. */
function declare(tool: Tool, { names, losses }: RequestBuild): TreeObject {
  const name = names.wireName(tool.name, tool.namespace);
  if (tool.freeform === undefined) {
    return { name, description: tool.description, parametersJsonSchema: objectSchema(tool.schema) };
  }
  if (tool.freeform.grammar !== undefined) losses.warn('in_words', tool.path);
  return { name, description: describeFreeform(tool), parametersJsonSchema: FREEFORM_SCHEMA };
}

/** The `functionCallingConfig`; undefined where the model is as free as it is anyway. */
function buildCalling({ content, names, losses }: RequestBuild): TreeObject | undefined {
  const { toolChoice, parallelTools } = content;
  if (toolChoice.mode === 'none') return { mode: 'NONE' };
  if (parallelTools === false) losses.warn('unsupported_parameter', 'parallel_tool_calls');
  if (toolChoice.mode === 'auto') return undefined;
  if (toolChoice.mode === 'one') {
    return { mode: 'ANY', allowedFunctionNames: [names.wireName(toolChoice.name, toolChoice.namespace)] };
  }
  if (toolChoice.allowed === undefined) return { mode: 'ANY' };
  const allowed = allowedTools(content).map(({ name, namespace }) => names.wireName(name, namespace));
  return { mode: 'ANY', allowedFunctionNames: allowed };
}
