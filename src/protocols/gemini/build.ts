import { AppError } from '../../platform/shared/index.js';
import {
  allowedTools,
  type BuildContext,
  describeFormat,
  describeFreeform,
  type Effort,
  FREEFORM_SCHEMA,
  jsonHeaders,
  leaveTierOut,
  nearestEffort,
  objectSchema,
  requestedEffort,
  runTools,
  SplicedBody,
  type Tool,
  ToolNames,
  type TreeObject,
  type UpstreamRequest,
  type UpstreamTarget,
  writeJson,
} from '../contract/index.js';
import { buildContents, FUNCTION_NAMES, type RequestBuild } from './build-contents.js';
import { geminiFlags } from './flags.js';

/** The request for a call of whichever dialect. @throws AppError as `UpstreamAdapter.buildRequest` */
export function buildGeminiRequest(context: BuildContext, target: UpstreamTarget): UpstreamRequest {
  const { content } = context;
  const flags = geminiFlags(target);
  const body = buildBody({ ...context, target, flags, names: new ToolNames(content.tools, FUNCTION_NAMES) });
  return {
    path: pathOf(target.model, target.stream),
    query: target.stream ? 'alt=sse' : '',
    headers: jsonHeaders(target.stream),
    body: new SplicedBody({ bytes: Buffer.from(writeJson(body)) }),
    stopsSent: Math.min(content.stop.length, flags.stopMax),
  };
}

/**
 * Where a model is asked: `/models/gemini-x:generateContent`. A name with a slash says itself where it stands:
 * `tunedModels/x`, `publishers/google/models/x`.
 */
export function pathOf(model: string, stream: boolean): string {
  const name = model.includes('/') ? model : `models/${model}`;
  const place = name.split('/').map(encodeURIComponent).join('/');
  return `/${place}:${stream ? 'streamGenerateContent' : 'generateContent'}`;
}

function buildBody(build: RequestBuild): TreeObject {
  const format = buildFormat(build);
  const config = buildConfig(build, format.config);
  leaveTierOut(build.content.serviceTier, build.losses);
  return {
    systemInstruction: buildSystem(build, format.words),
    contents: buildContents(build),
    ...buildTools(build),
    ...(Object.values(config).some((member) => member !== undefined) && { generationConfig: config }),
  };
}

function buildSystem({ content: { lead } }: RequestBuild, words: string | undefined): TreeObject | undefined {
  const texts = [...lead.map(({ text }) => text), ...(words === undefined ? [] : [words])];
  return texts.length === 0 ? undefined : { parts: texts.map((text) => ({ text })) };
}

/** The `generationConfig`. @param format its members that say of which form the answer is */
function buildConfig(build: RequestBuild, format: TreeObject = {}): TreeObject {
  const { content, flags } = build;
  const limit = outputLimitOf(build);
  const stops = content.stop.slice(0, flags.stopMax);
  return {
    ...buildSampling(build),
    maxOutputTokens: limit,
    stopSequences: stops.length > 0 ? stops : undefined,
    ...format,
    thinkingConfig: planThinking(build, limit ?? build.target.maxOutputTokens),
  };
}

/** Thoughts included. Nothing where neither the client nor its money sets a limit. */
function outputLimitOf({ content: { outputLimit }, target, losses }: RequestBuild): number | undefined {
  if (outputLimit !== undefined && outputLimit > target.maxOutputTokens) losses.warn('clamped', 'max_tokens');
  const limits = [outputLimit, target.outputLimit].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits, target.maxOutputTokens);
}

/** What asks for nothing. */
const DEFAULT: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
};
/** Seeds are signed numbers of 32 bits here. */
const SEED_BITS = 32;

/** How tokens are chosen, as far as the model lets clients say it. Only what would have changed something is named. */
function buildSampling({ content: { sampling }, flags, losses }: RequestBuild): TreeObject {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed } = sampling;
  const drop = (name: string, value: number | undefined): void => {
    if (value !== undefined && value !== DEFAULT[name]) losses.warn('unsupported_parameter', name);
  };
  if (sampling.logitBias !== undefined) losses.warn('unsupported_parameter', 'logit_bias');
  // No answer of another dialect has room for them as they come.
  if (sampling.topLogprobs !== undefined) losses.warn('unsupported_parameter', 'logprobs');
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
    // A seed is no promise anywhere: another one is as good.
    seed: seed === undefined ? undefined : Number(BigInt.asIntN(SEED_BITS, BigInt(seed))),
  };
}

/** Where warnings say that the fault lies. */
const EFFORT = 'reasoning_effort';

/** Tokens that stand for an effort, as Google itself takes efforts in its compatible API. */
const BUDGETS: ReadonlyMap<Effort, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
]);
/** What every model with budgets takes. */
const MIN_BUDGET = 512;
const MAX_BUDGET = 24_576;

/**
 * How a model is to think: `thinkingConfig`; undefined leaves it to the model.
 * @param limit tokens that the model may write, thoughts included
 * @throws AppError insufficient_quota when thinking would use up all that can be paid
 */
function planThinking(build: RequestBuild, limit: number): TreeObject | undefined {
  const { content, flags, losses } = build;
  const wished = requestedEffort(content.reasoning);
  if (flags.thinkingMode === 'none') {
    const isMissed = content.reasoning.thinking === 'on' || (wished !== undefined && wished !== 'none');
    if (isMissed) losses.warn('thinking_off', EFFORT);
    return undefined;
  }
  if (wished === 'none') return rested(build);
  const shown = content.reasoning.show === 'text' ? { includeThoughts: true } : {};
  const amount = wished === undefined ? {} : amountOf(build, wished, limit);
  if (amount['thinkingBudget'] === 0) return amount;
  const plan = { ...shown, ...amount };
  return Object.keys(plan).length > 0 ? plan : undefined;
}

/** As little as the model can. */
function rested({ flags, losses }: RequestBuild): TreeObject | undefined {
  if (flags.canRest) return { thinkingBudget: 0 };
  losses.warn('thinking_on', EFFORT);
  if (flags.thinkingMode === 'budget') return { thinkingBudget: MIN_BUDGET };
  const least = nearestEffort('minimal', flags.efforts);
  return least === undefined ? undefined : { thinkingLevel: least.toUpperCase() };
}

function amountOf(build: RequestBuild, wished: Effort, limit: number): TreeObject {
  const { content, flags, losses } = build;
  const { budget } = content.reasoning;
  if (flags.thinkingMode === 'budget' && budget !== undefined)
    return { thinkingBudget: ownBudget(build, budget, limit) };
  const effort = nearestEffort(wished, flags.efforts);
  // The least that the model has a word for is no substitute.
  if (effort !== wished && wished !== 'minimal')
    losses.warn(effort === undefined ? 'unsupported_parameter' : 'substituted', EFFORT);
  if (effort === undefined) return {};
  if (flags.thinkingMode === 'level') return { thinkingLevel: effort.toUpperCase() };
  // What the client has not measured itself leaves half of the limit to the answer.
  const most = Math.floor(limit / 2);
  return { thinkingBudget: affordable(build, Math.min(BUDGETS.get(effort) ?? MAX_BUDGET, most), limit) };
}

/** A budget that the client names: as much as the model takes, and never all that it may write. */
function ownBudget(build: RequestBuild, budget: number, limit: number): number {
  const fitting = Math.min(Math.max(budget, MIN_BUDGET), MAX_BUDGET, limit - 1);
  if (fitting < budget) build.losses.warn('clamped', EFFORT);
  return affordable(build, fitting, limit);
}

/** The budget, if there is room for any. */
function affordable({ flags, losses, target }: RequestBuild, budget: number, limit: number): number {
  if (budget >= MIN_BUDGET) return budget;
  if (target.outputLimit === limit) throw unaffordable(limit);
  if (!flags.canRest) return MIN_BUDGET;
  losses.warn('thinking_off', EFFORT);
  return 0;
}

function unaffordable(limit: number): AppError {
  const message = `insufficient quota: the remaining credit covers ${limit} output tokens, too few for reasoning and a response. Lower ${EFFORT} or add credit.`;
  return new AppError('insufficient_quota', message, { param: EFFORT });
}

/** How the form of an answer is asked for: by members of `generationConfig`, in words, or not at all. */
interface FormatRequest {
  readonly config?: TreeObject;
  readonly words?: string | undefined;
}

const JSON_ANSWER = { responseMimeType: 'application/json' };

function buildFormat({ content, flags, losses }: RequestBuild): FormatRequest {
  const { format, tools, hostedTools } = content;
  if (format.kind === 'text') return {};
  const isAlone = tools.length + hostedTools.length === 0;
  if (flags.takesFormats === 'never' || (flags.takesFormats === 'alone' && !isAlone)) {
    losses.warn('in_words', 'response_format');
    return { words: describeFormat(format) };
  }
  return { config: format.kind === 'json' ? JSON_ANSWER : { ...JSON_ANSWER, responseJsonSchema: format.schema } };
}

/** The tools and how they may be called. Without tools nothing is said of calling them. */
function buildTools(build: RequestBuild): TreeObject {
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
