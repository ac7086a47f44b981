import {
  allowedTools,
  type BuildContext,
  describeFormat,
  describeFreeform,
  dropServiceTier,
  FREEFORM_SCHEMA,
  GOOGLE_FUNCTION_NAMES,
  googleSeed,
  isFormatSupported,
  jsonHeaders,
  type JsonTree,
  lowestOutputLimit,
  nearestEffort,
  NEUTRAL_SAMPLING,
  objectSchema,
  offersWebSearch,
  REASONING_EFFORT,
  requestedEffort,
  SplicedBody,
  type Tool,
  ToolNames,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../contract/index.js';
import { buildSteps, type InteractionsBuild } from './build-steps.js';
import { interactionsFlags } from './flags.js';

/** Below the channel's base URL. */
export const PATH = '/interactions';

/** @throws AppError as `UpstreamAdapter.buildRequest` */
export function buildInteractionsRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content } = context;
  const flags = interactionsFlags(target);
  const body = buildBody({ ...context, target, flags, names: new ToolNames(content.tools, GOOGLE_FUNCTION_NAMES) });
  return {
    path: PATH,
    query: '',
    headers: jsonHeaders(target.stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopSequencesSent: Math.min(content.stop.length, flags.stopMax),
  };
}

function buildBody(build: InteractionsBuild): TreeObject {
  const { content, target } = build;
  const format = buildFormat(build);
  const { tools, choice } = buildTools(build);
  const config = buildConfig(build, choice);
  return {
    model: target.model,
    system_instruction: buildSystem(build, format.instruction),
    input: buildSteps(build),
    tools: tools.length > 0 ? tools : undefined,
    response_format: format.member,
    ...(Object.values(config).some((member) => member !== undefined) && { generation_config: config }),
    service_tier: buildTier(content.serviceTier, build),
    // Conversations are kept here. The vendor stores responses by default.
    store: false,
    ...(target.stream && { stream: true }),
  };
}

function buildSystem({ content: { lead } }: InteractionsBuild, instruction = ''): string | undefined {
  const texts = [...lead.map(({ text }) => text), instruction].filter((text) => text !== '');
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** Tiers by the vendor's names, which are the clients' too. */
const TIERS: readonly (string | undefined)[] = ['flex', 'priority'];

function buildTier(tier: string | undefined, { warnings }: InteractionsBuild): string | undefined {
  if (TIERS.includes(tier)) return tier;
  dropServiceTier(tier, warnings);
  return undefined;
}

/** The `generation_config`. */
function buildConfig(build: InteractionsBuild, tool_choice: JsonTree | undefined): TreeObject {
  const { content, flags, target, warnings } = build;
  const stops = content.stop.slice(0, flags.stopMax);
  return {
    ...buildSampling(build),
    max_output_tokens: lowestOutputLimit(content, target, warnings),
    stop_sequences: stops.length > 0 ? stops : undefined,
    ...buildThinking(build),
    tool_choice,
  };
}

/** Dropped values cause warnings if they have an effect. */
function buildSampling({ content: { sampling }, flags, warnings }: InteractionsBuild): TreeObject {
  const { temperature, topP: top_p, topK, presencePenalty, frequencyPenalty, seed, logitBias, topLogprobs } = sampling;
  const own = { temperature, top_p };
  const unsupported = {
    ...(!flags.takesSampling && own),
    top_k: topK,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    logit_bias: logitBias,
    logprobs: topLogprobs,
  };
  for (const [name, value] of Object.entries(unsupported)) {
    if (value !== undefined && value !== NEUTRAL_SAMPLING[name]) warnings.warn('unsupported_parameter', name);
  }
  return {
    ...(flags.takesSampling && own),
    seed: googleSeed(seed),
  };
}

/** Undefined members: the model's default. */
function buildThinking({ content: { reasoning }, flags, warnings }: InteractionsBuild): TreeObject {
  const requested = requestedEffort(reasoning);
  if (!flags.reasons) {
    const isUnsupported = reasoning.thinking === 'on' || (requested !== undefined && requested !== 'none');
    if (isUnsupported) warnings.warn('thinking_off', REASONING_EFFORT);
    return {};
  }
  const thinking_summaries = reasoning.show === 'text' && requested !== 'none' ? 'auto' : undefined;
  if (requested === undefined) return { thinking_summaries };
  const effort = nearestEffort(requested === 'none' ? 'minimal' : requested, flags.efforts);
  if (requested === 'none') warnings.warn('thinking_on', REASONING_EFFORT);
  // The lowest supported effort is no substitute.
  else if (effort !== requested && requested !== 'minimal')
    warnings.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', REASONING_EFFORT);
  return { thinking_level: effort, thinking_summaries };
}

/** Requests the output format by a member or by instruction. */
interface InteractionsFormat {
  readonly member?: TreeObject;
  readonly instruction?: string | undefined;
}

function buildFormat({ content, flags, warnings }: InteractionsBuild): InteractionsFormat {
  const { format } = content;
  if (format.kind === 'text') return {};
  if (!isFormatSupported(content, flags.takesFormats)) {
    warnings.warn('in_words', 'response_format');
    return { instruction: describeFormat(format) };
  }
  const schema = format.kind === 'schema' ? format.schema : undefined;
  return { member: { type: 'text', mime_type: 'application/json', schema } };
}

interface ToolRequest {
  readonly tools: readonly TreeObject[];
  /** Undefined for the default. */
  readonly choice?: JsonTree | undefined;
}

function buildTools(build: InteractionsBuild): ToolRequest {
  const { content, flags, warnings } = build;
  const searches = offersWebSearch(content, flags.searchesWeb, warnings);
  // All tools if the choice can be restricted, which requires a forced call.
  const offered = content.toolChoice.mode === 'auto' ? allowedTools(content) : content.tools;
  if (offered.length > 0) return { tools: offered.map((tool) => declare(tool, build)), choice: buildChoice(build) };
  return { tools: searches ? [{ type: 'google_search' }] : [] };
}

/** `strict` is not supported; arguments mostly match anyway. */
function declare(tool: Tool, { names, warnings }: InteractionsBuild): TreeObject {
  const declared = { type: 'function', name: names.wireName(tool.name, tool.namespace) };
  if (tool.freeform === undefined)
    return { ...declared, description: tool.description, parameters: objectSchema(tool.schema) };
  if (tool.freeform.grammar !== undefined) warnings.warn('in_words', tool.path);
  return { ...declared, description: describeFreeform(tool), parameters: FREEFORM_SCHEMA };
}

function buildChoice({ content, names, warnings }: InteractionsBuild): JsonTree | undefined {
  const { toolChoice, parallelTools } = content;
  if (toolChoice.mode === 'none') return 'none';
  if (parallelTools === false) warnings.warn('unsupported_parameter', 'parallel_tool_calls');
  if (toolChoice.mode === 'auto') return undefined;
  const isForced = toolChoice.mode === 'one';
  if (!isForced && toolChoice.allowed === undefined) return 'any';
  const allowed = isForced ? [toolChoice] : allowedTools(content);
  const tools = allowed.map(({ name, namespace }) => names.wireName(name, namespace));
  return { allowed_tools: { mode: 'any', tools } };
}
