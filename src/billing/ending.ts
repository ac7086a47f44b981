import { NO_TOKENS, type TokenUsage } from '../call/index.js';
import type { AppError } from '../shared/index.js';
import type { CountedTokens } from '../tokens/index.js';
import { OutOfCredit } from './billing.errors.js';

export type CallStatus = 'succeeded' | 'failed' | 'cancelled' | 'refused' | 'interrupted';
export type BillingBasis = 'reported' | 'estimated' | 'partial' | 'free';

/** How a call came to its end. */
export type Ending =
  { readonly status: 'succeeded' } | { readonly status: 'cancelled' | 'failed' | 'refused'; readonly error: AppError };

/** What had been seen of an answer when the call ended. */
export interface Progress {
  /** The upstream's latest report. */
  readonly usage: TokenUsage | undefined;
  /** It came before the answer, and knows the prompt at most. */
  readonly isProvisional?: boolean;
  /** What stands in for a report at the end of an answer without one; absent when that could not be counted either. */
  readonly counted?: CountedTokens | undefined;
  /** Output tokens counted in passing. */
  readonly outputUnits: number;
  /** Content has gone to the client. */
  readonly begun: boolean;
  /** The upstream had answered with its headers, so it has read the prompt. */
  readonly upstreamAnswered: boolean;
}

/** What is charged for, and why. Usage is undefined when nothing is charged. */
export interface Charge {
  readonly basis: BillingBasis;
  readonly usage: TokenUsage | undefined;
}

const FREE: Charge = { basis: 'free', usage: undefined };

/** The written billing rule for every ending. */
export function chargeFor(ending: Ending, progress: Progress, likelyPromptTokens: number): Charge {
  const counted = { ...NO_TOKENS, input: likelyPromptTokens, output: progress.outputUnits };
  switch (ending.status) {
    case 'succeeded':
      if (progress.usage !== undefined && !progress.isProvisional) return { basis: 'reported', usage: progress.usage };
      return estimated(progress, counted);
    case 'refused':
      return FREE;
    case 'failed':
      return progress.begun || ranOut(ending.error) ? partial(progress, counted) : FREE;
    case 'cancelled':
      return progress.begun || progress.upstreamAnswered ? partial(progress, counted) : FREE;
    default:
      return ending satisfies never;
  }
}

/** Not the upstream's failure, nor ours: what it has thought so far is paid for as far as the money goes. */
const ranOut = (error: AppError): boolean => error instanceof OutOfCredit;

/** The prompt as it was reported before the answer, else as counted; no prompt is empty. The output as counted. */
function estimated({ usage = NO_TOKENS, counted: words, outputUnits }: Progress, counted: TokenUsage): Charge {
  const output = words?.output ?? outputUnits;
  const input = usage.input > 0 ? usage.input : (words?.prompt ?? counted.input);
  return { basis: 'estimated', usage: { ...usage, input, output, reasoning: Math.min(usage.reasoning, output) } };
}

/** The report so far, but never less output than was seen: some upstreams report the prompt first and output last. */
function partial({ usage, outputUnits }: Progress, counted: TokenUsage): Charge {
  if (usage === undefined) return { basis: 'partial', usage: counted };
  return { basis: 'partial', usage: { ...usage, output: Math.max(usage.output, outputUnits) } };
}
