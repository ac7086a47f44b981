import { type Effort, GOOGLE_EFFORTS, type GoogleFlags, googleFlags, type UpstreamTarget } from '../contract/index.js';

export interface InteractionsFlags extends GoogleFlags {
  /** False: the model does not reason. */
  readonly reasons: boolean;
  /** Ascending. */
  readonly efforts: readonly Effort[];
}

/** Reasoning cannot be turned off. */
const LEVELS: ReadonlySet<unknown> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh']);

export function interactionsFlags(target: UpstreamTarget): InteractionsFlags {
  const { reasoning = false, thinkingMode, efforts } = target.flags;
  return {
    ...googleFlags(target),
    // The protocol has levels only, also for models with budgets.
    reasons: thinkingMode === undefined ? reasoning !== false : thinkingMode !== 'none',
    efforts: Array.isArray(efforts) ? efforts.filter((effort) => LEVELS.has(effort)) : GOOGLE_EFFORTS,
  };
}
