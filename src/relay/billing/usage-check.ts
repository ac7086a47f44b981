import type { CatalogModel } from '../../catalog/index.js';
import { type CallHead, isCountInString, type TokenUsage, type UsagePass } from '../../protocols/contract/index.js';
import { likelyPromptTokens } from './hold.js';

// Checks whether a usage report is plausible, and determines the charge if it is not; docs/money.md has the rules.
// Pure: its inputs are the report, our own counts and what the request allows.

/** Tokens outside the body: templates, and tool definitions added by vendors. */
const HIDDEN_PROMPT_TOKENS = 8192;
/** Some upstreams count the end token, and one has a minimum of 16. */
const LIMIT_SLACK = 16;
/** Output beside visible text: tool calls, markup. */
const HIDDEN_OUTPUT_TOKENS = 4096;
/** Undercounted text has at most as many tokens as bytes. */
const MAX_TOKENS_PER_UNIT = 4;
/** Vendors that run tools pause after this many model runs. */
const HOSTED_TOOL_PASSES = 10;
/** Default max uses of a hosted tool. */
const DEFAULT_MAX_TOOL_USES = 100;
const MAX_PASSES = 64;
/** Largest known: about 6,500. */
export const MAX_TOKENS_PER_GENERATED_IMAGE = 16_384;

/**
 * Findings: `…_missing` parts are absent or not counts, `…_zero` and `…_too_large` are impossible; `counts_in_strings`
 * has no effect.
 */
export type UsageFinding =
  | 'counts_in_strings'
  | 'prompt_missing'
  | 'completion_missing'
  | 'prompt_zero'
  | 'completion_zero'
  | 'prompt_too_large'
  | 'completion_too_large'
  | 'tool_uses_too_large'
  | 'passes_too_large';

/** Max possible usage of a call, in tokens. */
export interface UsageBounds {
  readonly prompt: number;
  /** Probable prompt without a count. */
  readonly likelyPrompt: number;
  /** The whole prompt is in the body. */
  readonly isCountable: boolean;
  /** For all choices; `completionShown`: max beyond visible output, undefined if more may be hidden. */
  readonly completion: number;
  readonly completionShown: number | undefined;
  readonly contextWindow: number;
  readonly hasHostedTools: boolean;
  /** Compaction or helper models were requested; else each pass is a turn of a named model that declined. */
  readonly addsPasses: boolean;
  readonly maxPasses: number;
  readonly maxToolUses: (tool: string) => number;
}

/** Our own counts. */
export interface CountedUsage {
  readonly prompt: number;
  readonly output: number;
  /** Metered output in tokens; undefined if not metered. */
  readonly meteredUnits: number | undefined;
}

export interface CheckedUsage {
  /** Usage to charge: the report if plausible, else counts, within the bounds. */
  readonly usage: TokenUsage;
  /** Empty: complete and plausible. */
  readonly findings: readonly UsageFinding[];
}

/** @param outputLimit per choice, if admission lowered the client's */
export function usageBounds(
  head: CallHead,
  { model, continuedTokens = 0 }: { readonly model: CatalogModel; readonly continuedTokens?: number | undefined },
  outputLimit?: number,
): UsageBounds {
  const { size, outside, demands, choices } = head;
  const { contextWindow, maxOutputTokens, pricing } = model;
  const hasHostedTools = demands !== undefined && (demands.hostedTools.length > 0 || demands.addsPasses);
  const addsPasses =
    demands !== undefined && (demands.addsPasses || demands.models.some(({ role }) => role === 'helper'));
  const isText = outside === undefined && size.images === 0 && size.encodedBytes === 0;
  const prompt = isText ? Math.min(contextWindow, size.bytes + HIDDEN_PROMPT_TOKENS) : contextWindow;
  return {
    likelyPrompt: Math.min(contextWindow, likelyPromptTokens(size, contextWindow) + continuedTokens),
    prompt: hasHostedTools ? contextWindow * (1 + HOSTED_TOOL_PASSES) : prompt,
    isCountable: outside === undefined && !hasHostedTools && (size.encodedBytes === 0 || size.images > 0),
    completion: Math.min(outputLimit ?? Infinity, head.outputLimit ?? Infinity, maxOutputTokens) * choices,
    completionShown: mayHide(head, model) ? undefined : HIDDEN_OUTPUT_TOKENS * choices,
    contextWindow,
    hasHostedTools,
    addsPasses,
    maxPasses: addsPasses ? MAX_PASSES : (demands?.models.length ?? 0),
    maxToolUses: (tool) => maxUsesOf(head, pricing, tool),
  };
}

/** Max uses of a hosted tool in a call. */
export function maxUsesOf({ demands }: CallHead, pricing: CatalogModel['pricing'], tool: string): number {
  const demanded = demands?.hostedTools.find(({ name }) => name === tool)?.maxUses;
  const limits = [demanded, demands?.maxToolCalls].filter((limit) => limit !== undefined);
  return limits.length > 0 ? Math.min(...limits) : (pricing.toolMaxUses.get(tool) ?? DEFAULT_MAX_TOOL_USES);
}

/** Whether output may be hidden, above all reasoning. */
const mayHide = ({ effort, demands }: CallHead, { capabilities }: CatalogModel): boolean =>
  capabilities['reasoning'] === true || (effort !== undefined && effort !== 'none') || demands !== undefined;

/**
 * Checks the report of a complete response.
 * @param isProvisional it came before the response and has no output
 */
export function checkUsage(
  report: TokenUsage,
  bounds: UsageBounds,
  counted: CountedUsage,
  isProvisional = false,
): CheckedUsage {
  const findings: UsageFinding[] = [];
  const prompt = promptFinding(report, bounds, isProvisional);
  const completion = isProvisional ? 'completion_missing' : completionFinding(report, bounds, counted.meteredUnits);
  if (prompt !== undefined) findings.push(prompt);
  if (completion !== undefined) findings.push(completion);
  if (hasCountsInStrings(report)) findings.push('counts_in_strings');
  const output = completion === undefined ? report.output : Math.min(counted.output, bounds.completion);
  const charged = withBoundedExtras(report, bounds, findings);
  return {
    usage: {
      ...(prompt === undefined ? charged : withPrompt(charged, promptInstead(prompt, bounds, counted.prompt))),
      output,
      reasoning: Math.min(charged.reasoning, output),
      ...(charged.audioOutput !== undefined && { audioOutput: Math.min(charged.audioOutput, output) }),
    },
    findings,
  };
}

/**
 * The plausible part of a report of a running response.
 * @param meteredUnits output units so far
 */
export function boundedUsage(report: TokenUsage, bounds: UsageBounds, meteredUnits?: number): TokenUsage {
  const isPromptBounded = report.input <= promptBound(report, bounds);
  const isCompletionBounded = completionFinding(report, bounds, meteredUnits) !== 'completion_too_large';
  const hasExtras =
    report.toolUses !== undefined || report.passes !== undefined || report.imageGeneration !== undefined;
  if (isPromptBounded && isCompletionBounded && !hasExtras) return report;
  const charged = withBoundedExtras(report, bounds, []);
  return {
    ...(isPromptBounded ? charged : withPrompt(charged, 0)),
    ...(!isCompletionBounded && { output: 0, reasoning: 0 }),
  };
}

/** Parts of a report that exceed what the call can use. */
export function excesses(report: TokenUsage, bounds: UsageBounds): readonly UsageFinding[] {
  const findings: UsageFinding[] = [];
  if (report.input > promptBound(report, bounds)) findings.push('prompt_too_large');
  if (report.output > bounds.completion + LIMIT_SLACK) findings.push('completion_too_large');
  withBoundedExtras(report, bounds, findings);
  return findings;
}

/** Whether a final report is complete and plausible, so that nothing needs to be counted. */
export const isBelievable = (report: TokenUsage, bounds: UsageBounds, meteredUnits: number | undefined): boolean =>
  promptFinding(report, bounds, false) === undefined && completionFinding(report, bounds, meteredUnits) === undefined;

/** Quality of a report by its findings, for the billing basis. */
export function qualityOf(findings: readonly UsageFinding[]): 'complete' | 'partial' | 'implausible' {
  const errors = findings.filter((finding) => finding !== 'counts_in_strings');
  if (errors.length === 0) return 'complete';
  return errors.every((finding) => finding.endsWith('_missing')) ? 'partial' : 'implausible';
}

function promptFinding(report: TokenUsage, bounds: UsageBounds, isProvisional: boolean): UsageFinding | undefined {
  const { irregular, input } = report;
  if (input > promptBound(report, bounds) || isTooLarge(irregular?.input)) return 'prompt_too_large';
  if (isMissing(irregular?.input)) return 'prompt_missing';
  // Prompts are never empty.
  if (input === 0) return isProvisional ? 'prompt_missing' : 'prompt_zero';
  return undefined;
}

function completionFinding(
  { irregular, output, reasoning, audioOutput }: TokenUsage,
  bounds: UsageBounds,
  meteredUnits: number | undefined,
): UsageFinding | undefined {
  const { completion, completionShown } = bounds;
  if (output > completion + LIMIT_SLACK || isTooLarge(irregular?.output)) return 'completion_too_large';
  if (isMissing(irregular?.output)) return 'completion_missing';
  if (output === 0) return meteredUnits !== undefined && meteredUnits > 0 ? 'completion_zero' : undefined;
  const mayBeHidden = completionShown === undefined || reasoning > 0 || (audioOutput ?? 0) > 0;
  if (mayBeHidden || meteredUnits === undefined) return undefined;
  return output > completionShown + meteredUnits * MAX_TOKENS_PER_UNIT ? 'completion_too_large' : undefined;
}

/** Each run of a hosted tool may read the whole prompt again. */
function promptBound(
  { toolUses }: TokenUsage,
  { prompt, contextWindow, hasHostedTools, maxToolUses }: UsageBounds,
): number {
  if (toolUses === undefined) return prompt;
  if (!hasHostedTools) return Math.max(prompt, contextWindow);
  let uses = 0;
  for (const tool in toolUses) uses += Math.min(toolUses[tool] ?? 0, maxToolUses(tool));
  return Math.max(prompt, contextWindow * (1 + uses));
}

/** Usage that cannot be counted is charged at its bound if the upstream claims more. */
const promptInstead = (finding: UsageFinding, bounds: UsageBounds, counted: number): number =>
  finding === 'prompt_too_large' && !bounds.isCountable ? bounds.contextWindow : counted;

/** Reduces the parts of a corrected prompt to fit. */
function withPrompt(usage: TokenUsage, input: number): TokenUsage {
  const { imageInput = 0, audioInput = 0, cacheWrite12h = 0 } = usage;
  const cached = usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h + cacheWrite12h;
  if (cached + imageInput + audioInput <= input) return { ...usage, input };
  const { imageInput: _image, audioInput: _audio, cacheWrite12h: _written, ...rest } = usage;
  return { ...rest, input, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
}

/** Other charged parts, within what the request allows. */
function withBoundedExtras(report: TokenUsage, bounds: UsageBounds, findings: UsageFinding[]): TokenUsage {
  const { toolUses, passes, imageGeneration, ...totals } = report;
  const uses = toolUses && boundedUses(toolUses, bounds);
  if (uses !== toolUses) findings.push('tool_uses_too_large');
  const kept = passes && boundedPasses(passes, bounds);
  const images = imageGeneration && boundedImages(imageGeneration, bounds);
  if (kept !== passes || images !== imageGeneration) findings.push('passes_too_large');
  return {
    ...totals,
    ...(uses && { toolUses: uses }),
    ...(kept && { passes: kept }),
    ...(images && { imageGeneration: images }),
  };
}

function boundedUses(
  uses: Readonly<Record<string, number>>,
  { maxToolUses }: UsageBounds,
): Readonly<Record<string, number>> {
  const names = Object.keys(uses);
  if (names.every((name) => (uses[name] ?? 0) <= maxToolUses(name))) return uses;
  return Object.fromEntries(names.map((name) => [name, Math.min(uses[name] ?? 0, maxToolUses(name))]));
}

/** Drops passes that were not requested, and usage beyond their bounds. */
function boundedPasses(passes: readonly UsagePass[], bounds: UsageBounds): readonly UsagePass[] {
  const { addsPasses, maxPasses, prompt, completion, contextWindow } = bounds;
  const isPlausible = ({ model, usage }: UsagePass): boolean =>
    (addsPasses || model !== undefined) && usage.input <= prompt && usage.output <= Math.max(completion, contextWindow);
  if (passes.length <= maxPasses && passes.every(isPlausible)) return passes;
  return passes.filter(isPlausible).slice(0, maxPasses);
}

function boundedImages(
  images: NonNullable<TokenUsage['imageGeneration']>,
  { hasHostedTools, contextWindow, maxToolUses }: UsageBounds,
): NonNullable<TokenUsage['imageGeneration']> {
  const uses = hasHostedTools ? maxToolUses('image_generation') : 0;
  const input = contextWindow * uses;
  const output = MAX_TOKENS_PER_GENERATED_IMAGE * uses;
  const { textInput, imageInput, textOutput, imageOutput } = images;
  if (textInput <= input && imageInput <= input && textOutput <= output && imageOutput <= output) return images;
  return {
    textInput: Math.min(textInput, input),
    imageInput: Math.min(imageInput, input),
    textOutput: Math.min(textOutput, output),
    imageOutput: Math.min(imageOutput, output),
  };
}

/** Whether the text in place of a total leaves it unknown. */
const isMissing = (text: string | undefined): boolean => text !== undefined && !isCountInString(text);

const hasCountsInStrings = ({ irregular = {} }: TokenUsage): boolean =>
  [irregular.input, irregular.output].some((text) => text !== undefined && isCountInString(text));

/** A number beyond all counts, in a string or not. */
const isTooLarge = (text: string | undefined): boolean =>
  text !== undefined && isMissing(text) && Number(text.replaceAll('"', '')) > Number.MAX_SAFE_INTEGER / 1e6;

/** The report as stored. @param findings of its check */
export function reportColumn(report: TokenUsage, findings: readonly UsageFinding[]): string {
  const { input, output, irregular, toolUses, passes } = report;
  return JSON.stringify({
    findings,
    prompt_tokens: total(input, irregular?.input),
    completion_tokens: total(output, irregular?.output),
    cached_tokens: report.cacheRead,
    cache_write_tokens: report.cacheWrite + report.cacheWrite1h + (report.cacheWrite12h ?? 0),
    reasoning_tokens: report.reasoning,
    ...(toolUses && { tool_uses: toolUses }),
    ...(passes && { passes: passes.length }),
  });
}

/** A count, null if missing, or the text as written. */
const total = (count: number, text: string | undefined): number | string | null =>
  text === undefined || isCountInString(text) ? count : text === '' ? null : text;
