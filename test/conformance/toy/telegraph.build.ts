import {
  allowedTools,
  type BuildContext,
  type CallContent,
  describeFreeform,
  formatInWords,
  FREEFORM_SCHEMA,
  jsonHeaders,
  type JsonTree,
  type Losses,
  objectSchema,
  pairResults,
  runTools,
  SplicedBody,
  type Tool,
  ToolNames,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../../../src/call/index.js';
import { buildLines } from './telegraph.lines.js';
import { warnOfUnsaid } from './telegraph.losses.js';

/** Behind the channel's base address. */
export const PATH = '/telegrams';

const TOOL_NAME = { maxLength: 64, odd: /[^A-Za-z0-9_-]/g };

/** What an upstream knows the client's tools as. */
export const toolNames = ({ tools }: Pick<CallContent, 'tools'>): ToolNames => new ToolNames(tools, TOOL_NAME);

/** The request for a call of any dialect. @throws AppError invalid_request naming what this upstream cannot be asked */
export function buildTelegram({ content, losses }: BuildContext, target: UpstreamTarget): UpstreamRequest {
  warnOfUnsaid(content, losses);
  const names = toolNames(content);
  const body: TreeObject = {
    model: target.model,
    lines: [
      ...content.lead.map(({ text }) => ({ from: 'system', text })),
      ...formatLine(content, losses),
      ...buildLines(pairResults(content.turns, losses), names),
    ],
    ...buildTools(content, names, losses),
    limit: limitOf(content, target, losses),
    ...(target.stream && { stream: true }),
  };
  return {
    path: PATH,
    query: '',
    headers: jsonHeaders(target.stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopsSent: 0,
  };
}

/** Nobody can hold the upstream to a schema: the model is asked for it. */
function formatLine({ format }: CallContent, losses: Losses): readonly TreeObject[] {
  const words = formatInWords(format);
  if (words === undefined) return [];
  losses.warn('in_words', 'response_format');
  return [{ from: 'system', text: words }];
}

/** Nothing where neither the client nor its money sets a limit. */
function limitOf({ outputLimit }: CallContent, target: UpstreamTarget, losses: Losses): number | undefined {
  if ((outputLimit ?? 0) > target.maxOutputTokens) losses.warn('clamped', 'max_tokens');
  const limits = [outputLimit, target.outputLimit].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits, target.maxOutputTokens);
}

function buildTools(content: CallContent, names: ToolNames, losses: Losses): TreeObject {
  runTools(content, () => false, losses);
  const tools = allowedTools(content).map((tool) => buildTool(tool, names, losses));
  return tools.length === 0 ? {} : { tools, use: useOf(content, names) };
}

function buildTool(tool: Tool, names: ToolNames, losses: Losses): TreeObject {
  const name = names.wireName(tool.name, tool.namespace);
  if (tool.freeform === undefined) return { name, about: tool.description, schema: objectSchema(tool.schema) };
  if (tool.freeform.grammar !== undefined) losses.warn('in_words', tool.path);
  return { name, about: describeFreeform(tool), schema: FREEFORM_SCHEMA };
}

const useOf = ({ toolChoice: choice }: CallContent, names: ToolNames): JsonTree =>
  choice.mode === 'one' ? { tool: names.wireName(choice.name, choice.namespace) } : choice.mode;
