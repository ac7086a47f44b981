import {
  allowedTools,
  type BuildContext,
  type CallContent,
  describedWith,
  describeFormat,
  describeFreeform,
  dropServiceTier,
  FREEFORM_SCHEMA,
  isTreeObject,
  jsonHeaders,
  type JsonTree,
  lowestOutputLimit,
  objectSchema,
  type OutputFormat,
  parseJsonTree,
  RawJson,
  type Sampling,
  SplicedBody,
  supportedHostedTools,
  type Tool,
  ToolNames,
  type TranslationWarnings,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
  withoutRootCombinators,
  writeJson,
} from '../contract/index.js';
import { buildMessages, CacheMarks, countMarks, markOf, type MessagesBuild } from './build-turns.js';
import { planThinking } from './build-thinking.js';
import { FORCED_RESPOND, RESPOND, respondsByTool } from './decoder.js';
import { messagesFlags, TOOL_NAMES } from './flags.js';

/** @throws AppError as `UpstreamAdapter.buildRequest` */
export function buildMessagesRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content } = context;
  const flags = messagesFlags(target);
  const names = new ToolNames(content.tools, TOOL_NAMES);
  const body = buildBody({ ...context, target, flags, names, marks: new CacheMarks(content) });
  return {
    path: '/messages',
    query: '',
    headers: { ...jsonHeaders(target.stream), 'anthropic-version': flags.version },
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopSequencesSent: sentStops(content.stop).length,
  };
}

function buildBody(build: MessagesBuild): TreeObject {
  const { content, target } = build;
  const formatRequest = buildFormat(build);
  const maxTokens = maxTokensOf(build);
  const plan = planThinking(build, maxTokens, isToolForced(content));
  const isConfigured = plan.effort !== undefined || formatRequest.format !== undefined;
  const stops = sentStops(content.stop);
  return {
    model: target.model,
    max_tokens: maxTokens,
    ...buildPrompt(build, formatRequest, plan.isOn),
    thinking: plan.thinking,
    ...(isConfigured && { output_config: { effort: plan.effort, format: formatRequest.format } }),
    ...buildSampling(build, plan.isOn),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(content.endUser !== undefined && { metadata: { user_id: content.endUser } }),
    service_tier: buildTier(build),
    stream: target.stream,
  };
}

/** In prompt order, in which cache breakpoints are counted. */
function buildPrompt(build: MessagesBuild, { tool, instruction }: MessagesFormat, isThinking: boolean): TreeObject {
  const { content, flags } = build;
  const tools = tool === undefined ? buildTools(build) : [tool];
  const system = buildSystem(build, instruction);
  return {
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && { tool_choice: tool === undefined ? buildToolChoice(build, isThinking) : FORCED_RESPOND }),
    ...(system.length > 0 && { system }),
    messages: buildMessages(build),
    // Clients of other protocols do not set breakpoints.
    ...(flags.caches && countMarks(content) === 0 && { cache_control: markOf() }),
  };
}

const isToolForced = ({ toolChoice: { mode }, tools }: CallContent): boolean =>
  tools.length > 0 && (mode === 'required' || mode === 'one');

function buildSystem({ content, marks }: MessagesBuild, instruction: string | undefined): readonly TreeObject[] {
  const lead = content.lead.map((part) => ({ type: 'text', text: part.text, ...marks.on(part) }));
  const texts = lead.filter(({ text }) => text.trim() !== '');
  return instruction === undefined ? texts : [...texts, { type: 'text', text: instruction }];
}

/** Blank stop sequences are rejected: from the first one on, they are enforced here. */
function sentStops(stop: readonly string[]): readonly string[] {
  const blank = stop.findIndex((text) => text.trim() === '');
  return blank < 0 ? stop : stop.slice(0, blank);
}

/** Other vendors' tiers are not available. */
function buildTier({ content: { serviceTier }, warnings }: MessagesBuild): string | undefined {
  if (serviceTier === 'default') return 'standard_only';
  dropServiceTier(serviceTier, warnings);
  return undefined;
}

/** Required by the protocol; includes reasoning. Not raised for reasoning above what is held. */
function maxTokensOf({ content, target, warnings }: MessagesBuild): number {
  return lowestOutputLimit(content, target, warnings) ?? target.maxOutputTokens;
}

/** Min `top_p` with reasoning. */
const MIN_TOP_P_WITH_THINKING = 0.95;

/** Dropped values cause warnings if they have an effect. */
function buildSampling({ content, flags, warnings }: MessagesBuild, isThinking: boolean): TreeObject {
  const { temperature, topP, topK } = content.sampling;
  warnOfOthers(content.sampling, warnings);
  const clamped = Math.min(temperature ?? 1, 1);
  if (temperature !== undefined && temperature > clamped) warnings.warn('clamped', 'temperature');
  const keepsTemperature = flags.takesSampling && (!isThinking || clamped === 1);
  const keepsTopP =
    flags.takesSampling &&
    (!isThinking || (topP ?? 1) >= MIN_TOP_P_WITH_THINKING) &&
    !(flags.takesOneSampler && temperature !== undefined);
  const keepsTopK = flags.takesSampling && !isThinking;
  if (!keepsTemperature && clamped !== 1) warnings.warn('unsupported_parameter', 'temperature');
  if (!keepsTopP && (topP ?? 1) !== 1) warnings.warn('unsupported_parameter', 'top_p');
  if (!keepsTopK && topK !== undefined) warnings.warn('unsupported_parameter', 'top_k');
  return {
    temperature: keepsTemperature && temperature !== undefined ? clamped : undefined,
    top_p: keepsTopP ? topP : undefined,
    top_k: keepsTopK ? topK : undefined,
  };
}

/** Seeds guarantee nothing, so they are dropped silently. */
function warnOfOthers(sampling: Sampling, warnings: TranslationWarnings): void {
  if ((sampling.presencePenalty ?? 0) !== 0) warnings.warn('unsupported_parameter', 'presence_penalty');
  if ((sampling.frequencyPenalty ?? 0) !== 0) warnings.warn('unsupported_parameter', 'frequency_penalty');
  if (sampling.logitBias !== undefined) warnings.warn('unsupported_parameter', 'logit_bias');
  if (sampling.topLogprobs !== undefined) warnings.warn('unsupported_parameter', 'logprobs');
}

/** Requests the output format by a member, by a forced tool or by instruction. */
interface MessagesFormat {
  readonly format?: TreeObject;
  readonly tool?: TreeObject;
  readonly instruction?: string;
}

function buildFormat({ content, flags, warnings }: MessagesBuild): MessagesFormat {
  const { format } = content;
  if (format.kind === 'text') return {};
  if (format.kind === 'json') {
    warnings.warn('in_words', 'response_format');
    return instructionOf(format);
  }
  const schema = format.strict === true ? closed(format.schema) : format.schema;
  if (flags.takesFormats) return { format: { type: 'json_schema', schema } };
  if (respondsByTool(content, flags)) {
    return { tool: { name: RESPOND, description: 'Gives the answer.', input_schema: schema } };
  }
  warnings.warn('in_words', 'response_format');
  return instructionOf({ ...format, schema });
}

function instructionOf(format: OutputFormat): MessagesFormat {
  const instruction = describeFormat(format);
  return instruction === undefined ? {} : { instruction };
}

const NOTHING: ReadonlySet<string> = new Set();

/** Adds `additionalProperties: false` everywhere, which `strict` implies in other protocols. */
function closed(schema: RawJson): RawJson {
  const tree = parseJsonTree(schema.text, NOTHING);
  const text = writeJson(close(tree));
  return text === writeJson(tree) ? schema : new RawJson(text);
}

function close(schema: JsonTree): JsonTree {
  if (Array.isArray(schema)) return schema.map((entry: JsonTree) => close(entry));
  if (!isTreeObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value = null]) => [name, close(value)]));
  const isOpen = schema['type'] === 'object' && schema['additionalProperties'] === undefined;
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

export function buildTools(build: MessagesBuild): readonly TreeObject[] {
  return [...allowedTools(build.content).map((tool) => writeTool(tool, build)), ...buildHosted(build)];
}

const writeTool = (tool: Tool, { names, flags, marks, warnings }: MessagesBuild): TreeObject => ({
  name: names.wireName(tool.name, tool.namespace),
  ...describe(tool, warnings),
  strict: tool.strict === true && flags.takesStrictTools ? true : undefined,
  ...marks.on(tool),
});

/** Constraints that the schema cannot express are added to the description. */
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

function buildHosted({ content, flags, warnings }: MessagesBuild): TreeObject[] {
  const run = supportedHostedTools(
    content,
    ({ type }) => type === 'web_search' && flags.webSearch !== undefined,
    warnings,
  );
  return run.length > 0 ? [{ type: flags.webSearch, name: 'web_search', max_uses: run[0]?.maxUses }] : [];
}

/** @param isThinking excludes forced calls */
export function buildToolChoice({ content, warnings, names }: MessagesBuild, isThinking: boolean): TreeObject {
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
