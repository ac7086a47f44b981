import type { Step } from '../web/index.js';

/** A step, and what its time was spent on, as it stands behind "was spent"; absent where other steps say it. */
export interface TimedStep extends Step {
  readonly spent?: string;
  /** Of the time that it took; all of it when absent. */
  readonly spentMs?: number;
}

/** Each time is rounded for itself, so that a gap of less, in ms, may be none. */
export const MIN_GAP_MS = 2;

/** One of ours between two moments of the call, unless that is no time. */
export const gapStep = (name: string, fromMs: number, toMs: number, rest: Partial<TimedStep>): TimedStep[] =>
  toMs - fromMs < MIN_GAP_MS ? [] : [{ name, atMs: fromMs, tookMs: toMs - fromMs, tone: 'ours', ...rest }];

/** @param why it came to nothing; empty when it did not */
export const choosing = (fromMs: number, toMs: number, why = ''): TimedStep[] =>
  gapStep('Choose an upstream', fromMs, toMs, { outcome: why, bad: why !== '', spent: 'choosing an upstream' });
