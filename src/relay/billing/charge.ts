import type { UpstreamCost } from '../../catalog/channels/index.js';
import type { Pricing } from '../../catalog/index.js';
import { RefusedKey } from '../../keys/index.js';
import { type AppError, type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import { type Call, type CallHead, NO_TOKENS, type TokenUsage } from '../../protocols/contract/index.js';
import type { AttemptLog, AttemptRow } from './attempt-log.js';
import { OutOfCredit } from './billing.errors.js';
import { type BillingPlan, reportedModel } from './plan.js';
import { type CostItem, costItems, passItems, sumOf } from './price.js';
import { headSent, serviceReported } from './service-tier.js';
import { checkUsage, excesses, qualityOf, type UsageBounds, type UsageFinding } from './usage-check.js';

export type CallStatus = 'succeeded' | 'failed' | 'cancelled' | 'refused' | 'interrupted';
export type BillingBasis = 'reported' | 'estimated' | 'corrected' | 'partial' | 'free';

/** How a call ended. */
export type Ending =
  { readonly status: 'succeeded' } | { readonly status: 'cancelled' | 'failed' | 'refused'; readonly error: AppError };

/** The response as received when the call ended. */
export interface Progress {
  /** The upstream's latest plausible report. */
  readonly usage: TokenUsage | undefined;
  /** The same as reported. */
  readonly reported?: TokenUsage | undefined;
  /** The report came before the response and contains the prompt at most. */
  readonly isProvisional?: boolean;
  /** Counted prompt tokens in place of a missing report; absent if not counted. */
  readonly countedPrompt?: number | undefined;
  /** Output tokens as far as known, and those among them that were visible. */
  readonly outputTokens: number;
  readonly visibleTokens: number;
  /** Metered output in tokens; undefined if not metered. */
  readonly meteredTokens?: number | undefined;
  /** Max possible usage of the call. */
  readonly bounds: UsageBounds;
  /** Content was received. */
  readonly begun: boolean;
  /** The request was sent completely and not rejected: its prompt is charged. */
  readonly promptSent: boolean;
}

/** The charge and its basis. Undefined usage: nothing is charged. */
export interface Charge {
  readonly basis: BillingBasis;
  readonly usage: TokenUsage | undefined;
  /** Findings about the report; absent if there are none. */
  readonly findings?: readonly UsageFinding[];
}

const FREE: Charge = { basis: 'free', usage: undefined };

/** The billing rules for all endings (docs/money.md). */
export function chargeFor(ending: Ending, progress: Progress, likelyPromptTokens: number): Charge {
  const counted = { ...NO_TOKENS, input: likelyPromptTokens, output: progress.outputTokens };
  switch (ending.status) {
    case 'succeeded':
      return finished(progress, counted);
    case 'refused':
      return FREE;
    case 'failed':
    case 'cancelled':
      return isPartial(ending, { ...progress, silent: !progress.begun }) ? partial(progress, counted) : FREE;
    default:
      return ending satisfies never;
  }
}

/** Whether usage until the end is charged although the call did not succeed. */
export function isPartial(
  ending: Ending,
  { silent, promptSent }: { readonly silent: boolean; readonly promptSent: boolean },
): boolean {
  if (ending.status === 'cancelled') return !silent || promptSent;
  if (ending.status !== 'failed') return false;
  return !silent || ranOut(ending.error) || (promptSent && wasRevoked(ending.error));
}

/** Among failures of admitted calls, only revocation of the key is the owner's responsibility. */
const wasRevoked = (error: AppError): boolean => error instanceof RefusedKey;

/** Not a failure of upstream or relay: usage is charged as far as the money goes. */
export const ranOut = (error: AppError): boolean => error instanceof OutOfCredit;

/** Billing basis by quality of the report. */
const BASES = { complete: 'reported', partial: 'estimated', implausible: 'corrected' } as const;

/** Uses the report where it is complete and plausible, counts otherwise. */
function finished(progress: Progress, likely: TokenUsage): Charge {
  const {
    usage,
    reported = usage,
    isProvisional,
    countedPrompt,
    visibleTokens: output,
    meteredTokens,
    bounds,
  } = progress;
  const prompt = countedPrompt ?? likely.input;
  if (reported === undefined) {
    return { basis: 'estimated', usage: { ...likely, input: prompt, output: Math.min(output, bounds.completion) } };
  }
  const checked = checkUsage(reported, bounds, { prompt, output, meteredUnits: meteredTokens }, isProvisional);
  if (checked.findings.length === 0) return { basis: 'reported', usage: checked.usage };
  return { basis: BASES[qualityOf(checked.findings)], ...checked };
}

/**
 * Uses the report so far, but at least the counted output with assumed hidden reasoning: some upstreams report output
 * only at the end.
 */
function partial({ usage, reported, countedPrompt, outputTokens, bounds }: Progress, likely: TokenUsage): Charge {
  const prompt = countedPrompt ?? likely.input;
  if (usage === undefined) return { basis: 'partial', usage: { ...likely, input: prompt } };
  const findings = reported === undefined ? [] : excesses(reported, bounds);
  return {
    basis: 'partial',
    usage: { ...usage, input: usage.input || prompt, output: Math.max(usage.output, outputTokens) },
    ...(findings.length > 0 && { findings }),
  };
}

const MILLION = 1_000_000n;
/** Prices are per million tokens; share, service tier, speed and region are in millionths. */
const DENOMINATOR = MILLION ** 5n;

/** Usage of one model within an attempt. */
export interface CostedPart {
  readonly cost: UpstreamCost;
  /** The model's own pricing, for shares and service multipliers. */
  readonly pricing: Pricing;
  readonly items: (pricing: Pricing) => readonly CostItem[];
}

/**
 * Upstream cost, rounded once, half up. Service tier, speed and region multiply it as they multiply the price, because
 * upstreams charge for them. Effort and group do not: they are the administrator's own markup or discount.
 * @param usage as reported
 */
export function upstreamCost(parts: readonly CostedPart[], head: CallHead, usage: TokenUsage): Nanos {
  const sum = parts.reduce((total, { cost, pricing, items }) => {
    const [charged, share] = 'share' in cost ? [pricing, cost.share] : [cost.pricing, MILLION];
    const { tier, speed, geo } = serviceReported(head, usage, pricing);
    return total + sumOf(items(charged)) * tier.multiplier * speed.multiplier * geo.multiplier * share;
  }, 0n);
  return nanos((2n * sum + DENOMINATOR) / (2n * DENOMINATOR));
}

interface CostedAttempts {
  readonly rows: readonly AttemptRow[];
  /** Total in nanos; null: unknown. */
  readonly cost: string | null;
}

/**
 * Rows of the attempts with their costs, and the total: null if one is unknown.
 * @param served usage of the last attempt; undefined: unknown
 */
export function costedAttempts(
  attempts: readonly AttemptLog[],
  call: Pick<Call, 'head' | 'protocol'>,
  plan: BillingPlan | undefined,
  served: TokenUsage | undefined,
): CostedAttempts {
  let total: bigint | undefined = ZERO;
  const rows = attempts.map((attempt, index) => {
    const usage = usageOfAttempt(attempt, index === attempts.length - 1 ? served : attempt.usage);
    const cost = plan && costOfAttempt(attempt, headSent(call, attempt), plan, usage);
    total = total === undefined || cost === undefined ? undefined : total + cost;
    return attempt.row(cost);
  });
  return { rows, cost: total?.toString() ?? null };
}

/** A pass that another attempt served is counted there. */
function usageOfAttempt({ followsPass }: AttemptLog, usage: TokenUsage | undefined): TokenUsage | undefined {
  if (usage?.passes === undefined || !followsPass) return usage;
  const { passes, ...totals } = usage;
  return { ...totals, passes: passes.slice(1) };
}

/** Rejected and unsent requests cost nothing. For unanswered ones the cost is unknown. */
function costOfAttempt(
  attempt: AttemptLog,
  head: CallHead,
  plan: BillingPlan,
  usage: TokenUsage | undefined,
): Nanos | undefined {
  const { delivery } = attempt;
  if (delivery === 'rejected' || delivery === 'unsent') return ZERO;
  if (usage === undefined || delivery === 'no response') return undefined;
  const parts = [
    costedPart(attempt, plan, usage.servedBy, (pricing) => costItems(pricing, usage)),
    ...(usage.passes ?? []).map((pass) =>
      costedPart(attempt, plan, pass.model, (pricing) => passItems(pricing, pass.usage)),
    ),
  ];
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length ? undefined : upstreamCost(known, head, usage);
}

/** @param reported model as the upstream names it @returns undefined if its cost is unknown */
function costedPart(
  attempt: AttemptLog,
  plan: BillingPlan,
  reported: string | undefined,
  items: CostedPart['items'],
): CostedPart | undefined {
  const model = reportedModel(plan, reported, (name) => attempt.upstreamNames(name));
  const cost = model && (model === plan.model ? attempt.cost : attempt.costOf(model.name));
  return model && cost && { cost, pricing: model.pricing, items };
}
