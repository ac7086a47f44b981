import {
  allowedTools,
  type BuildContext,
  type CallContent,
  describeFormat,
  describeFreeform,
  FREEFORM_SCHEMA,
  jsonHeaders,
  type JsonTree,
  objectSchema,
  pairResults,
  SplicedBody,
  supportedHostedTools,
  type Tool,
  ToolNames,
  type TranslationWarnings,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../../../src/protocols/contract/index.js';
import { buildLines } from './lines.js';
import { warnOfUnsaid } from './warnings.js';

/** Relative to the channel's `base_url`. The path may contain the model; `query` is separate. */
export const PATH = '/telegrams';

const TOOL_NAME = { maxLength: 64, invalid: /[^A-Za-z0-9_-]/g };

/** Maps tool names to names that the vendor accepts, and back when a response is decoded. */
export const toolNames = ({ tools }: Pick<CallContent, 'tools'>): ToolNames => new ToolNames(tools, TOOL_NAME);

/**
 * Builds the request for a call of any protocol, for each channel that is tried. It must not modify its arguments.
 *
 * If the vendor needs at least one user message: `throw malformed('messages', 'must contain a user message')`.
 *
 * @throws AppError invalid_request naming the unsupported member
 */
export function buildTelegram({ content, warnings }: BuildContext, target: UpstreamTarget): UpstreamRequest {
  warnOfUnsaid(content, warnings);
  const names = toolNames(content);
  const body: TreeObject = {
    model: target.model,
    lines: [
      ...content.lead.map(({ text }) => ({ from: 'system', text })),
      ...formatLine(content, warnings),
      // Puts each result behind its call, adds missing ones, and turns those without a call into text.
      ...buildLines(pairResults(content.turns, warnings), names),
    ],
    ...buildTools(content, names, warnings),
    limit: limitOf(content, target, warnings),
    ...(target.stream && { stream: true }),
  };
  return {
    path: PATH,
    query: '',
    headers: jsonHeaders(target.stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    // How many of `content.stop` were sent. The relay enforces the others.
    stopSequencesSent: 0,
  };
}

/** Telegraph cannot constrain responses to JSON, so the prompt asks for it. */
function formatLine({ format }: CallContent, warnings: TranslationWarnings): readonly TreeObject[] {
  const words = describeFormat(format);
  if (words === undefined) return [];
  warnings.warn('in_words', 'response_format');
  return [{ from: 'system', text: words }];
}

/**
 * The lowest of the client's limit, what the wallet or key quota can pay, and what the model can write. Without the
 * first two, the member is omitted; if the vendor requires one, send `target.maxOutputTokens`.
 */
function limitOf(
  { outputLimit }: CallContent,
  target: UpstreamTarget,
  warnings: TranslationWarnings,
): number | undefined {
  if ((outputLimit ?? 0) > target.maxOutputTokens) warnings.warn('clamped', 'max_tokens');
  const limits = [outputLimit, target.outputLimit].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits, target.maxOutputTokens);
}

function buildTools(content: CallContent, names: ToolNames, warnings: TranslationWarnings): TreeObject {
  // No hosted tools: each gets a warning, and the request is refused if no other tool is left.
  supportedHostedTools(content, () => false, warnings);
  const tools = allowedTools(content).map((tool) => buildTool(tool, names, warnings));
  return tools.length === 0 ? {} : { tools, use: useOf(content, names) };
}

function buildTool(tool: Tool, names: ToolNames, warnings: TranslationWarnings): TreeObject {
  const name = names.wireName(tool.name, tool.namespace);
  if (tool.freeform === undefined) return { name, about: tool.description, schema: objectSchema(tool.schema) };
  // A freeform tool takes any text. Here it becomes a tool with one string argument.
  if (tool.freeform.grammar !== undefined) warnings.warn('in_words', tool.path);
  return { name, about: describeFreeform(tool), schema: FREEFORM_SCHEMA };
}

const useOf = ({ toolChoice: choice }: CallContent, names: ToolNames): JsonTree =>
  choice.mode === 'one' ? { tool: names.wireName(choice.name, choice.namespace) } : choice.mode;
