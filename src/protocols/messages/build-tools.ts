import {
  allowedTools,
  describedWith,
  describeFreeform,
  FREEFORM_SCHEMA,
  type NameRule,
  objectSchema,
  supportedHostedTools,
  type Tool,
  type TranslationWarnings,
  type TreeObject,
  withoutRootCombinators,
} from '../contract/index.js';
import type { RequestBuild } from './build-turns.js';

export const TOOL_NAMES: NameRule = { maxLength: 128, invalid: /[^a-zA-Z0-9_-]/g };

export function buildTools(build: RequestBuild): readonly TreeObject[] {
  return [...allowedTools(build.content).map((tool) => writeTool(tool, build)), ...buildHosted(build)];
}

const writeTool = (tool: Tool, { names, flags, marks, warnings }: RequestBuild): TreeObject => ({
  name: names.wireName(tool.name, tool.namespace),
  ...describe(tool, warnings),
  strict: tool.strict === true && flags.takesStrictTools ? true : undefined,
  ...marks.on(tool),
});

/** What the schema cannot express is added to the description. */
function describe(tool: Tool, warnings: TranslationWarnings): TreeObject {
  if (tool.freeform !== undefined) {
    if (tool.freeform.grammar !== undefined) warnings.warn('in_words', tool.path);
    return { description: describeFreeform(tool), input_schema: FREEFORM_SCHEMA };
  }
  const schema = objectSchema(tool.schema);
  const merged = withoutRootCombinators(schema);
  if (merged === undefined) return { description: tool.description, input_schema: schema };
  warnings.warn('schema_merged', tool.path);
  return { description: describedWith(tool.description, merged.note), input_schema: merged.schema };
}

function buildHosted({ content, flags, warnings }: RequestBuild): TreeObject[] {
  const run = supportedHostedTools(
    content,
    ({ type }) => type === 'web_search' && flags.webSearch !== undefined,
    warnings,
  );
  return run.length > 0 ? [{ type: flags.webSearch, name: 'web_search', max_uses: run[0]?.maxUses }] : [];
}

/** @param isThinking excludes forced calls */
export function buildToolChoice({ content, warnings, names }: RequestBuild, isThinking: boolean): TreeObject {
  const { toolChoice, parallelTools } = content;
  const parallel = { disable_parallel_tool_use: parallelTools === false ? true : undefined };
  if (toolChoice.mode === 'none') return { type: 'none' };
  if (toolChoice.mode === 'auto') return { type: 'auto', ...parallel };
  if (isThinking) {
    warnings.warn('tool_not_forced', 'tool_choice');
    return { type: 'auto', ...parallel };
  }
  if (toolChoice.mode !== 'one') return { type: 'any', ...parallel };
  return { type: 'tool', name: names.wireName(toolChoice.name, toolChoice.namespace), ...parallel };
}
