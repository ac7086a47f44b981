import { NO_TOKENS, type TokenUsage } from '../../protocols/contract/index.js';
import { RefusedKey } from '../../keys/index.js';
import type { AppError } from '../../platform/shared/index.js';
import { OutOfCredit } from './billing.errors.js';
import { checkUsage, excesses, qualityOf, type UsageBounds, type UsageFinding } from './usage-check.js';

export type CallStatus = 'succeeded' | 'failed' | 'cancelled' | 'refused' | 'interrupted';
export type BillingBasis = 'reported' | 'estimated' | 'corrected' | 'partial' | 'free';

/** How a call came to its end. */
export type Ending =
  { readonly status: 'succeeded' } | { readonly status: 'cancelled' | 'failed' | 'refused'; readonly error: AppError };

/** What had been seen of an answer when the call ended. */
export interface Progress {
  /** The upstream's latest report, as far as it can be true. */
  readonly usage: TokenUsage | undefined;
  /** The same as it was reported. */
  readonly told?: TokenUsage | undefined;
  /** It came before the answer, and knows the prompt at most. */
  readonly isProvisional?: boolean;
  /** Tokens of the prompt in place of a missing report; absent when it was not counted, or counting failed. */
  readonly countedPrompt?: number | undefined;
  /** Output tokens, as far as they are known, and of these the ones that were not thought out of sight. */
  readonly outputUnits: number;
  readonly shownUnits: number;
  /** Output seen in passing, in tokens; undefined when it was not metered. */
  readonly seenUnits?: number | undefined;
  /** The most that the call can have used. */
  readonly bounds: UsageBounds;
  /** Content has gone to the client. */
  readonly begun: boolean;
  /** The request had gone up whole, and was not refused: its prompt is charged for. */
  readonly promptSent: boolean;
}

/** What is charged for, and why. Usage is undefined when nothing is charged. */
export interface Charge {
  readonly basis: BillingBasis;
  readonly usage: TokenUsage | undefined;
  /** What is to be said of the upstream's report; absent when nothing is, or it made none. */
  readonly findings?: readonly UsageFinding[];
}

const FREE: Charge = { basis: 'free', usage: undefined };

/** The written billing rule for every ending. */
export function chargeFor(ending: Ending, progress: Progress, likelyPromptTokens: number): Charge {
  const counted = { ...NO_TOKENS, input: likelyPromptTokens, output: progress.outputUnits };
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

/** Whether what a call has used until its end is charged, though that was not its regular end. */
export function isPartial(
  ending: Ending,
  { silent, promptSent }: { readonly silent: boolean; readonly promptSent: boolean },
): boolean {
  if (ending.status === 'cancelled') return !silent || promptSent;
  if (ending.status !== 'failed') return false;
  return !silent || ranOut(ending.error) || (promptSent && wasRevoked(ending.error));
}

/** An admitted call fails by this only when its key is revoked, which is its owner's doing or its fault. */
const wasRevoked = (error: AppError): boolean => error instanceof RefusedKey;

/** Not the upstream's failure, nor ours: what it has thought so far is paid for as far as the money goes. */
export const ranOut = (error: AppError): boolean => error instanceof OutOfCredit;

/** By what a report is. */
const BASES = { complete: 'reported', partial: 'estimated', implausible: 'corrected' } as const;

/** The report where it is complete and can be true; what it lacks, or cannot be true of it, as counted. */
function finished(progress: Progress, likely: TokenUsage): Charge {
  const { usage, told = usage, isProvisional, countedPrompt, shownUnits: output, seenUnits, bounds } = progress;
  const prompt = countedPrompt ?? likely.input;
  if (told === undefined) {
    return { basis: 'estimated', usage: { ...likely, input: prompt, output: Math.min(output, bounds.completion) } };
  }
  const checked = checkUsage(told, bounds, { prompt, output, seen: seenUnits }, isProvisional);
  if (checked.findings.length === 0) return { basis: 'reported', usage: checked.usage };
  return { basis: BASES[qualityOf(checked.findings)], ...checked };
}

/** The report so far, but never less output than was seen: some upstreams report the prompt first and output last. */
function partial({ usage, told, countedPrompt, outputUnits, bounds }: Progress, likely: TokenUsage): Charge {
  const prompt = countedPrompt ?? likely.input;
  if (usage === undefined) return { basis: 'partial', usage: { ...likely, input: prompt } };
  const findings = told === undefined ? [] : excesses(told, bounds);
  return {
    basis: 'partial',
    usage: { ...usage, input: usage.input || prompt, output: Math.max(usage.output, outputUnits) },
    ...(findings.length > 0 && { findings }),
  };
}
