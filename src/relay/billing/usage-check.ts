import { type CallHead, isCountInString, type TokenUsage, type UsagePass } from '../../protocols/contract/index.js';
import type { CatalogModel } from '../../catalog/index.js';
import { likelyPromptTokens } from './hold.js';

// Whether an upstream's report of usage can be true, and what is charged when it cannot: docs/money.md has the rules as a
// table. Pure: it is fed with the report, with what was counted here, and with what the request allows.

/** Tokens that no body contains: templates, and the definitions of tools that a vendor adds. */
const HIDDEN_PROMPT_TOKENS = 8192;
/** Some upstreams count the end of an answer, and one of them has a minimum of 16. */
const LIMIT_SLACK = 16;
/** What an answer takes beside the text that can be seen: calls of tools, markup. */
const HIDDEN_OUTPUT_TOKENS = 4096;
/** Undercounted text has more tokens than units, but never more than bytes. */
const MAX_TOKENS_PER_UNIT = 4;
/** Vendors that run tools themselves run a model at most so many times before they pause. */
const HOSTED_TOOL_PASSES = 10;
/** Of one hosted tool, where neither the client nor the model's prices set a limit. */
const DEFAULT_MAX_TOOL_USES = 100;
const MAX_PASSES = 64;
/** The largest image of any model has some 6,500. */
export const MAX_TOKENS_PER_GENERATED_IMAGE = 16_384;

/**
 * What is to be said of a report: `…_missing` is a part that is not there or no count, `…_zero` and `…_too_large` cannot
 * be true, and `counts_in_strings` changes nothing.
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

/** The most that a call can use. Tokens. */
export interface UsageBounds {
  readonly prompt: number;
  /** What the prompt probably is, without a count. */
  readonly likelyPrompt: number;
  /** The prompt lies in the body as a whole, so that it can be counted. */
  readonly isCountable: boolean;
  /** Of all answers together; `completionShown`: beyond what can be seen of them, undefined where more may be hidden. */
  readonly completion: number;
  readonly completionShown: number | undefined;
  readonly contextWindow: number;
  readonly hasHostedTools: boolean;
  readonly hasPasses: boolean;
  readonly maxToolUses: (tool: string) => number;
}

/** What was counted here. */
export interface CountedUsage {
  readonly prompt: number;
  readonly output: number;
  /** Output seen in passing, in tokens; undefined when it was not metered. */
  readonly seen: number | undefined;
}

export interface CheckedUsage {
  /** What is to be charged: the report where it can be true, else what was counted, never more than the bounds. */
  readonly usage: TokenUsage;
  /** None: the report is complete and can be true. */
  readonly findings: readonly UsageFinding[];
}

/** @param outputLimit for each answer, where admission had to lower the client's */
export function usageBounds(
  head: CallHead,
  { model, continuedTokens = 0 }: { readonly model: CatalogModel; readonly continuedTokens?: number | undefined },
  outputLimit?: number,
): UsageBounds {
  const { size, outside, demands, answers } = head;
  const { contextWindow, maxOutputTokens, pricing } = model;
  const hasHostedTools = demands !== undefined && (demands.hostedTools.length > 0 || demands.addsPasses);
  const isText = outside === undefined && size.images === 0 && size.encodedBytes === 0;
  const prompt = isText ? Math.min(contextWindow, size.bytes + HIDDEN_PROMPT_TOKENS) : contextWindow;
  return {
    likelyPrompt: Math.min(contextWindow, likelyPromptTokens(size, contextWindow) + continuedTokens),
    prompt: hasHostedTools ? contextWindow * (1 + HOSTED_TOOL_PASSES) : prompt,
    isCountable: outside === undefined && !hasHostedTools && (size.encodedBytes === 0 || size.images > 0),
    completion: Math.min(outputLimit ?? Infinity, head.outputLimit ?? Infinity, maxOutputTokens) * answers,
    completionShown: mayHide(head, model) ? undefined : HIDDEN_OUTPUT_TOKENS * answers,
    contextWindow,
    hasHostedTools,
    hasPasses: demands !== undefined && (demands.addsPasses || demands.models.length > 0),
    maxToolUses: (tool) => maxUsesOf(head, pricing, tool),
  };
}

/** As often a hosted tool can run for a call. */
export function maxUsesOf({ demands }: CallHead, pricing: CatalogModel['pricing'], tool: string): number {
  const demanded = demands?.hostedTools.find(({ name }) => name === tool)?.maxUses;
  const limits = [demanded, demands?.maxToolCalls].filter((limit) => limit !== undefined);
  return limits.length > 0 ? Math.min(...limits) : (pricing.toolMaxUses.get(tool) ?? DEFAULT_MAX_TOOL_USES);
}

/** Whether there may be output that the answer does not show: reasoning, above all. */
const mayHide = ({ effort, demands }: CallHead, { capabilities }: CatalogModel): boolean =>
  capabilities['reasoning'] === true || (effort !== undefined && effort !== 'none') || demands !== undefined;

/**
 * The report of an answer that is complete, checked.
 * @param isProvisional it came before the answer, and says nothing of the output
 */
export function checkUsage(
  report: TokenUsage,
  bounds: UsageBounds,
  counted: CountedUsage,
  isProvisional = false,
): CheckedUsage {
  const findings: UsageFinding[] = [];
  const prompt = promptFinding(report, bounds, isProvisional);
  const completion = isProvisional ? 'completion_missing' : completionFinding(report, bounds, counted.seen);
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
 * A report of an answer that still runs: what cannot be true of it is left out, as if it had not been said.
 * @param seen units of output so far
 */
export function boundedUsage(report: TokenUsage, bounds: UsageBounds, seen?: number): TokenUsage {
  const isPromptBounded = report.input <= promptBound(report, bounds);
  const isCompletionBounded = completionFinding(report, bounds, seen) !== 'completion_too_large';
  const hasExtras =
    report.toolUses !== undefined || report.passes !== undefined || report.imageGeneration !== undefined;
  if (isPromptBounded && isCompletionBounded && !hasExtras) return report;
  const charged = withBoundedExtras(report, bounds, []);
  return {
    ...(isPromptBounded ? charged : withPrompt(charged, 0)),
    ...(!isCompletionBounded && { output: 0, reasoning: 0 }),
  };
}

/** What of a report, of whichever answer, is more than the call can use. */
export function excesses(report: TokenUsage, bounds: UsageBounds): readonly UsageFinding[] {
  const findings: UsageFinding[] = [];
  if (report.input > promptBound(report, bounds)) findings.push('prompt_too_large');
  if (report.output > bounds.completion + LIMIT_SLACK) findings.push('completion_too_large');
  withBoundedExtras(report, bounds, findings);
  return findings;
}

/** Whether a final report is complete and can be true, so that nothing need be counted. */
export const isBelievable = (report: TokenUsage, bounds: UsageBounds, seen: number | undefined): boolean =>
  promptFinding(report, bounds, false) === undefined && completionFinding(report, bounds, seen) === undefined;

/** What a report with these findings is, for the basis of the charge. */
export function qualityOf(findings: readonly UsageFinding[]): 'complete' | 'partial' | 'implausible' {
  const faults = findings.filter((finding) => finding !== 'counts_in_strings');
  if (faults.length === 0) return 'complete';
  return faults.every((finding) => finding.endsWith('_missing')) ? 'partial' : 'implausible';
}

function promptFinding(report: TokenUsage, bounds: UsageBounds, isProvisional: boolean): UsageFinding | undefined {
  const { irregular, input } = report;
  if (input > promptBound(report, bounds) || isTooLarge(irregular?.input)) return 'prompt_too_large';
  if (isMissing(irregular?.input)) return 'prompt_missing';
  // No prompt is empty.
  if (input === 0) return isProvisional ? 'prompt_missing' : 'prompt_zero';
  return undefined;
}

function completionFinding(
  { irregular, output, reasoning, audioOutput }: TokenUsage,
  bounds: UsageBounds,
  seen: number | undefined,
): UsageFinding | undefined {
  const { completion, completionShown } = bounds;
  if (output > completion + LIMIT_SLACK || isTooLarge(irregular?.output)) return 'completion_too_large';
  if (isMissing(irregular?.output)) return 'completion_missing';
  if (output === 0) return seen !== undefined && seen > 0 ? 'completion_zero' : undefined;
  const mayBeHidden = completionShown === undefined || reasoning > 0 || (audioOutput ?? 0) > 0;
  if (mayBeHidden || seen === undefined) return undefined;
  return output > completionShown + seen * MAX_TOKENS_PER_UNIT ? 'completion_too_large' : undefined;
}

/** Each run of a hosted tool may have had the model read everything once more. */
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

/** What cannot be counted is charged by its bound; an upstream that claims more has been held for that. */
const promptInstead = (finding: UsageFinding, bounds: UsageBounds, counted: number): number =>
  finding === 'prompt_too_large' && !bounds.isCountable ? bounds.contextWindow : counted;

/** With another prompt the report's parts of it stay only as far as they fit. */
function withPrompt(usage: TokenUsage, input: number): TokenUsage {
  const { imageInput = 0, audioInput = 0, cacheWrite12h = 0 } = usage;
  const cached = usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h + cacheWrite12h;
  if (cached + imageInput + audioInput <= input) return { ...usage, input };
  const { imageInput: _image, audioInput: _audio, cacheWrite12h: _written, ...rest } = usage;
  return { ...rest, input, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 };
}

/** What is charged beside the totals, as far as the request allows it. */
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

/** Passes that the request did not ask for were not made; what one cannot have used is not charged. */
function boundedPasses(passes: readonly UsagePass[], bounds: UsageBounds): readonly UsagePass[] {
  if (!bounds.hasPasses) return passes.length === 0 ? passes : [];
  const isPlausible = ({ usage }: UsagePass): boolean =>
    usage.input <= bounds.prompt && usage.output <= Math.max(bounds.completion, bounds.contextWindow);
  if (passes.length <= MAX_PASSES && passes.every(isPlausible)) return passes;
  return passes.slice(0, MAX_PASSES).filter(isPlausible);
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

/** Whether what was written in place of a total leaves it unknown. */
const isMissing = (text: string | undefined): boolean => text !== undefined && !isCountInString(text);

const hasCountsInStrings = ({ irregular = {} }: TokenUsage): boolean =>
  [irregular.input, irregular.output].some((text) => text !== undefined && isCountInString(text));

/** A number beyond all counts, in a string or not. */
const isTooLarge = (text: string | undefined): boolean =>
  text !== undefined && isMissing(text) && Number(text.replaceAll('"', '')) > Number.MAX_SAFE_INTEGER / 1e6;

/** The report as its row keeps it. @param findings of its check */
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

/** A count, null where the upstream left it out, or as it was written. */
const total = (count: number, text: string | undefined): number | string | null =>
  text === undefined || isCountInString(text) ? count : text === '' ? null : text;
