import { AppError } from '../../platform/shared/index.js';
import {
  allowedTools,
  type BuildContext,
  describeFormat,
  describeFreeform,
  dropServiceTier,
  type Effort,
  FREEFORM_SCHEMA,
  GOOGLE_FUNCTION_NAMES,
  googleSeed,
  isFormatSupported,
  jsonHeaders,
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
import { buildContents, type GeminiBuild } from './build-contents.js';
import { geminiFlags } from './flags.js';

/** @throws AppError as `UpstreamAdapter.buildRequest` */
export function buildGeminiRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content } = context;
  const flags = geminiFlags(target);
  const body = buildBody({ ...context, target, flags, names: new ToolNames(content.tools, GOOGLE_FUNCTION_NAMES) });
  return {
    path: pathOf(target.model, target.stream ? 'streamGenerateContent' : 'generateContent'),
    query: target.stream ? 'alt=sse' : '',
    headers: jsonHeaders(target.stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopSequencesSent: Math.min(content.stop.length, flags.stopMax),
  };
}

/**
 * `/models/gemini-x:generateContent`. Names with a slash are complete: `tunedModels/x`, `publishers/google/models/x`.
 */
export function pathOf(model: string, method: string): string {
  const name = model.includes('/') ? model : `models/${model}`;
  const place = name.split('/').map(encodeURIComponent).join('/');
  return `/${place}:${method}`;
}

function buildBody(build: GeminiBuild): TreeObject {
  const format = buildFormat(build);
  const config = buildConfig(build, format.config);
  dropServiceTier(build.content.serviceTier, build.warnings);
  return {
    systemInstruction: buildSystem(build, format.instruction),
    contents: buildContents(build),
    ...buildTools(build),
    ...(Object.values(config).some((member) => member !== undefined) && { generationConfig: config }),
  };
}

function buildSystem({ content: { lead } }: GeminiBuild, instruction: string | undefined): TreeObject | undefined {
  const texts = [...lead.map(({ text }) => text), ...(instruction === undefined ? [] : [instruction])];
  return texts.length === 0 ? undefined : { parts: texts.map((text) => ({ text })) };
}

/** The `generationConfig`. @param format its members for the output format */
function buildConfig(build: GeminiBuild, format: TreeObject = {}): TreeObject {
  const { content, flags } = build;
  const limit = lowestOutputLimit(content, build.target, build.warnings);
  const stops = content.stop.slice(0, flags.stopMax);
  return {
    ...buildSampling(build),
    maxOutputTokens: limit,
    stopSequences: stops.length > 0 ? stops : undefined,
    ...format,
    thinkingConfig: planThinking(build, limit ?? build.target.maxOutputTokens),
  };
}

/** Dropped values cause warnings if they have an effect. */
function buildSampling({ content: { sampling }, flags, warnings }: GeminiBuild): TreeObject {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed } = sampling;
  const drop = (name: string, value: number | undefined): void => {
    if (value !== undefined && value !== NEUTRAL_SAMPLING[name]) warnings.warn('unsupported_parameter', name);
  };
  if (sampling.logitBias !== undefined) warnings.warn('unsupported_parameter', 'logit_bias');
  // Responses of other protocols have no logprobs.
  if (sampling.topLogprobs !== undefined) warnings.warn('unsupported_parameter', 'logprobs');
  if (!flags.takesSampling) {
    drop('temperature', temperature);
    drop('top_p', topP);
    drop('top_k', topK);
  }
  if (!flags.takesPenalties) {
    drop('presence_penalty', presencePenalty);
    drop('frequency_penalty', frequencyPenalty);
  }
  return {
    ...(flags.takesSampling && { temperature, topP, topK }),
    ...(flags.takesPenalties && { presencePenalty, frequencyPenalty }),
    seed: googleSeed(seed),
  };
}

/** Budgets by effort, as in Google's OpenAI-compatible API. */
const BUDGETS: ReadonlyMap<Effort, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
]);
/** For all models with budgets. */
const MIN_BUDGET = 512;
const MAX_BUDGET = 24_576;

/**
 * The `thinkingConfig`; undefined: the model's default.
 * @param limit output limit including reasoning
 * @throws AppError insufficient_quota when reasoning would use up the affordable limit
 */
function planThinking(build: GeminiBuild, limit: number): TreeObject | undefined {
  const { content, flags, warnings } = build;
  const requested = requestedEffort(content.reasoning);
  if (flags.thinkingMode === 'none') {
    const isUnsupported = content.reasoning.thinking === 'on' || (requested !== undefined && requested !== 'none');
    if (isUnsupported) warnings.warn('thinking_off', REASONING_EFFORT);
    return undefined;
  }
  if (requested === 'none') return minimalThinking(build);
  const shown = content.reasoning.show === 'text' ? { includeThoughts: true } : {};
  const amount = requested === undefined ? {} : amountOf(build, requested, limit);
  if (amount['thinkingBudget'] === 0) return amount;
  const plan = { ...shown, ...amount };
  return Object.keys(plan).length > 0 ? plan : undefined;
}

/** As little reasoning as possible. */
function minimalThinking({ flags, warnings }: GeminiBuild): TreeObject | undefined {
  if (flags.canDisableThinking) return { thinkingBudget: 0 };
  warnings.warn('thinking_on', REASONING_EFFORT);
  if (flags.thinkingMode === 'budget') return { thinkingBudget: MIN_BUDGET };
  const lowest = nearestEffort('minimal', flags.efforts);
  return lowest === undefined ? undefined : { thinkingLevel: lowest.toUpperCase() };
}

function amountOf(build: GeminiBuild, requested: Effort, limit: number): TreeObject {
  const { content, flags, warnings } = build;
  const { budget } = content.reasoning;
  if (flags.thinkingMode === 'budget' && budget !== undefined)
    return { thinkingBudget: ownBudget(build, budget, limit) };
  const effort = nearestEffort(requested, flags.efforts);
  // The lowest supported effort is no substitute.
  if (effort !== requested && requested !== 'minimal')
    warnings.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', REASONING_EFFORT);
  if (effort === undefined) return {};
  if (flags.thinkingMode === 'level') return { thinkingLevel: effort.toUpperCase() };
  // Without an explicit budget, half of the limit remains for the response.
  const maxBudget = Math.floor(limit / 2);
  return { thinkingBudget: affordable(build, Math.min(BUDGETS.get(effort) ?? MAX_BUDGET, maxBudget), limit) };
}

/** An explicit budget, within the model's range and below the output limit. */
function ownBudget(build: GeminiBuild, budget: number, limit: number): number {
  const fitting = Math.min(Math.max(budget, MIN_BUDGET), MAX_BUDGET, limit - 1);
  if (fitting < budget) build.warnings.warn('clamped', REASONING_EFFORT);
  return affordable(build, fitting, limit);
}

function affordable({ flags, warnings, target }: GeminiBuild, budget: number, limit: number): number {
  if (budget >= MIN_BUDGET) return budget;
  if (target.outputLimit === limit) throw unaffordable(limit);
  if (!flags.canDisableThinking) return MIN_BUDGET;
  warnings.warn('thinking_off', REASONING_EFFORT);
  return 0;
}

function unaffordable(limit: number): AppError {
  const message = `insufficient quota: the remaining credit covers ${limit} output tokens, too few for reasoning and a response. Lower ${REASONING_EFFORT} or add credit.`;
  return new AppError('insufficient_quota', message, { param: REASONING_EFFORT });
}

/** Requests the output format by members of `generationConfig` or by instruction. */
interface GeminiFormat {
  readonly config?: TreeObject;
  readonly instruction?: string | undefined;
}

const JSON_OUTPUT = { responseMimeType: 'application/json' };

function buildFormat({ content, flags, warnings }: GeminiBuild): GeminiFormat {
  const { format } = content;
  if (format.kind === 'text') return {};
  if (!isFormatSupported(content, flags.takesFormats)) {
    warnings.warn('in_words', 'response_format');
    return { instruction: describeFormat(format) };
  }
  return { config: format.kind === 'json' ? JSON_OUTPUT : { ...JSON_OUTPUT, responseJsonSchema: format.schema } };
}

function buildTools(build: GeminiBuild): TreeObject {
  const { content, flags, warnings } = build;
  const searches = offersWebSearch(content, flags.searchesWeb, warnings);
  const functions = offeredTools(build).map((tool) => declare(tool, build));
  if (functions.length === 0) return searches ? { tools: [{ googleSearch: {} }] } : {};
  const calling = buildCalling(build);
  return {
    tools: [{ functionDeclarations: functions }],
    ...(calling !== undefined && { toolConfig: { functionCallingConfig: calling } }),
  };
}

/** All tools if the choice can be restricted, which requires a forced call. */
const offeredTools = ({ content }: GeminiBuild): readonly Tool[] =>
  content.toolChoice.mode === 'auto' ? allowedTools(content) : content.tools;

/** `strict` is not supported; arguments mostly match anyway. */
function declare(tool: Tool, { names, warnings }: GeminiBuild): TreeObject {
  const name = names.wireName(tool.name, tool.namespace);
  if (tool.freeform === undefined) {
    return { name, description: tool.description, parametersJsonSchema: objectSchema(tool.schema) };
  }
  if (tool.freeform.grammar !== undefined) warnings.warn('in_words', tool.path);
  return { name, description: describeFreeform(tool), parametersJsonSchema: FREEFORM_SCHEMA };
}

/** Undefined for the default. */
function buildCalling({ content, names, warnings }: GeminiBuild): TreeObject | undefined {
  const { toolChoice, parallelTools } = content;
  if (toolChoice.mode === 'none') return { mode: 'NONE' };
  if (parallelTools === false) warnings.warn('unsupported_parameter', 'parallel_tool_calls');
  if (toolChoice.mode === 'auto') return undefined;
  if (toolChoice.mode === 'one') {
    return { mode: 'ANY', allowedFunctionNames: [names.wireName(toolChoice.name, toolChoice.namespace)] };
  }
  if (toolChoice.allowed === undefined) return { mode: 'ANY' };
  const allowed = allowedTools(content).map(({ name, namespace }) => names.wireName(name, namespace));
  return { mode: 'ANY', allowedFunctionNames: allowed };
}
