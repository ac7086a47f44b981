import {
  allowedTools,
  type BuildContext,
  type CallContent,
  conforming,
  DEFAULT_SERVICE_TIERS,
  describedWith,
  describeFormat,
  describeFreeform,
  type Effort,
  FREEFORM_SCHEMA,
  jsonHeaders,
  type JsonTree,
  type KnownTool,
  lowestOutputLimit,
  nearestEffort,
  NEUTRAL_SAMPLING,
  objectSchema,
  type OutputFormat,
  pairResults,
  plainUser,
  type ReasoningRequest,
  requestedEffort,
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
import { buildMessages } from './build-messages.js';
import { chatFlags, type ChatFlags, TOOL_NAME } from './flags.js';

export const PATH = '/chat/completions';

/** @throws AppError invalid_request naming what the upstream does not support */
export function buildChatRequest({ content, warnings }: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const flags = chatFlags(target.flags);
  const { stream } = target;
  const stop = content.stop.slice(0, flags.stopMax);
  const names = new ToolNames(content.tools, TOOL_NAME);
  const paired = { ...content, turns: pairResults(content.turns, warnings) };
  const body: TreeObject = {
    model: target.model,
    messages: buildMessages(withDescribedFormat(paired, flags, warnings), {
      flags,
      names,
      warnings,
      family: target.family,
    }),
    ...buildTools(content, { flags, names, warnings }),
    [flags.limitName]: lowestOutputLimit(content, target, warnings),
    ...buildSampling(content.sampling, flags, warnings),
    ...(stop.length > 0 && { stop }),
    reasoning_effort: buildEffort(content.reasoning, flags, warnings),
    response_format: buildFormat(content.format, flags),
    ...(flags.verbosity && { verbosity: content.verbosity }),
    user: content.endUser === undefined ? undefined : plainUser(content.endUser),
    ...(flags.cacheKey && { prompt_cache_key: content.cacheKey }),
    // The default is omitted: servers without tiers would reject the name.
    service_tier: DEFAULT_SERVICE_TIERS.includes(content.serviceTier ?? 'auto') ? undefined : content.serviceTier,
    ...(stream && { stream, ...(flags.includeUsage && { stream_options: { include_usage: true } }) }),
  };
  return {
    path: PATH,
    query: '',
    headers: jsonHeaders(stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopSequencesSent: stop.length,
  };
}

/** Describes the schema in an instruction if the model has no format support. */
function withDescribedFormat(
  content: CallContent,
  { structuredOutput }: ChatFlags,
  warnings: TranslationWarnings,
): CallContent {
  const instruction = structuredOutput ? undefined : describeFormat(content.format);
  if (instruction === undefined) return content;
  warnings.warn('in_words', 'response_format');
  return { ...content, lead: [...content.lead, { kind: 'text', text: instruction }] };
}

/** Unsupported parameters are dropped with a warning. */
function buildSampling(sampling: Sampling, flags: ChatFlags, warnings: TranslationWarnings): TreeObject {
  const { topLogprobs, topK, seed, logitBias } = sampling;
  // Responses of other protocols have no logprobs.
  if (topLogprobs !== undefined) warnings.warn('unsupported_parameter', 'logprobs');
  if (topK !== undefined && !flags.topK) warnings.warn('unsupported_parameter', 'top_k');
  const chosen = {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
  };
  if (flags.samplingFixed) {
    for (const [name, value] of Object.entries(chosen)) {
      if (value !== undefined && value !== NEUTRAL_SAMPLING[name]) warnings.warn('unsupported_parameter', name);
    }
  }
  return { ...(!flags.samplingFixed && chosen), ...(flags.topK && { top_k: topK }), seed, logit_bias: logitBias };
}

function buildEffort(
  reasoning: ReasoningRequest,
  { efforts }: ChatFlags,
  warnings: TranslationWarnings,
): Effort | undefined {
  const requested = requestedEffort(reasoning);
  if (requested === undefined) return undefined;
  const effort = nearestEffort(requested, efforts);
  // A model without reasoning need not be told not to.
  const isUnsupported = effort !== requested && !(requested === 'none' && efforts.length === 0);
  if (isUnsupported) warnings.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', 'reasoning_effort');
  return effort;
}

const DEFAULT_NAME = 'output';

/** Undefined for text, or if the format can only be described. */
function buildFormat(format: OutputFormat, flags: ChatFlags): JsonTree | undefined {
  if (!flags.structuredOutput) return undefined;
  switch (format.kind) {
    case 'text':
      return undefined;
    case 'json':
      return { type: 'json_object' };
    case 'schema': {
      const { name = DEFAULT_NAME, description, schema, strict } = format;
      const strictness = flags.strictSchema ? strict : undefined;
      const json_schema = { name: conforming(name, TOOL_NAME), description, schema, strict: strictness };
      return { type: 'json_schema', json_schema };
    }
    default:
      return format satisfies never;
  }
}

interface ToolContext {
  readonly flags: ChatFlags;
  readonly names: ToolNames;
  readonly warnings: TranslationWarnings;
}

function buildTools(content: CallContent, context: ToolContext): TreeObject {
  const hosted = buildHosted(content, context);
  // All tools if the upstream supports a restriction.
  const tools = context.flags.allowedTools ? content.tools : allowedTools(content);
  if (tools.length === 0) return hosted;
  return {
    tools: tools.map((tool) => buildTool(tool, context)),
    tool_choice: buildChoice(content, context),
    parallel_tool_calls: content.parallelTools,
    ...hosted,
  };
}

function buildTool(tool: Tool, { flags, names, warnings }: ToolContext): TreeObject {
  const name = names.wireName(tool.name, tool.namespace);
  const { description, freeform } = tool;
  if (freeform === undefined) return { type: 'function', function: buildFunction(tool, name, { flags, warnings }) };
  const { grammar } = freeform;
  if (flags.customTools) {
    const format = grammar === undefined ? undefined : { type: 'grammar', grammar: { ...grammar } };
    return { type: 'custom', custom: { name, description, format } };
  }
  if (grammar !== undefined) warnings.warn('in_words', tool.path);
  return {
    type: 'function',
    function: { name, description: describeFreeform(tool), parameters: FREEFORM_SCHEMA },
  };
}

function buildFunction(
  { description, schema, strict, path }: Tool,
  name: string,
  { flags, warnings }: Pick<ToolContext, 'flags' | 'warnings'>,
): TreeObject {
  const parameters = objectSchema(schema);
  const isStrict = flags.strictSchema ? strict : undefined;
  // Only strict schemas must not have combinators at their root.
  const merged = isStrict === true ? withoutRootCombinators(parameters) : undefined;
  if (merged === undefined) return { name, description, parameters, strict: isStrict };
  warnings.warn('schema_merged', path);
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

function buildHosted(content: CallContent, { flags, warnings }: ToolContext): TreeObject {
  const run = supportedHostedTools(content, ({ type }) => type === 'web_search' && flags.hostedWebSearch, warnings);
  return run.length > 0 ? { web_search_options: {} } : {};
}
