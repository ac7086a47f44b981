import type { RecordedCall } from '../../usage/index.js';
import { stillSteps } from './attempt-steps.js';
import { choosing, gapStep, type TimedStep } from './timed-step.js';

const CHECKED = 'reading and checking the request';
const SHARED_WITH = /\(shared with (req_\w+)\)$/;

/**
 * The steps before the first attempt, or all of a call that has come to none.
 * @param untilMs when that began, or when the call ended
 */
export function beginning(call: RecordedCall, untilMs: number, isAsked: boolean): TimedStep[] {
  const { status, errorReason, errorMessage, holdBegunMs, holdMs, settleWaitMs } = call;
  const isRefused = status === 'refused' && !isAsked;
  if (holdBegunMs !== null && holdMs !== null) {
    const read = gapStep('Accepted and checked', 0, holdBegunMs, { outcome: 'key, limits', spent: CHECKED });
    if (isRefused) return [...read, holdRefused(holdBegunMs, holdMs, errorReason)];
    const chosen = choosing(holdBegunMs + holdMs, untilMs, isAsked ? '' : errorReason);
    return [...read, moneyHeld(holdBegunMs, holdMs), ...chosen];
  }
  // Nothing was accepted or held, and so nothing is settled.
  if (isRefused) return [failed('Checked: refused', untilMs, errorReason)];
  const sharedWith = SHARED_WITH.exec(errorMessage)?.[1];
  if (sharedWith !== undefined) return shared(call, sharedWith, untilMs);
  // Its client has left before a hold was asked for.
  if (settleWaitMs !== null && !isAsked) return [failed('Accepted and checked', untilMs, errorReason)];
  return [{ name: 'Accepted, money held', atMs: 0, tookMs: untilMs, tone: 'ours', outcome: 'key, limits, balance' }];
}

const moneyHeld = (atMs: number, tookMs: number): TimedStep => ({
  name: 'Money held',
  atMs,
  tookMs,
  tone: 'ours',
  outcome: 'balance, quota, budgets',
  spent: 'placing the hold',
});

const holdRefused = (atMs: number, tookMs: number, reason: string): TimedStep => ({
  ...moneyHeld(atMs, tookMs),
  name: 'Hold refused',
  tone: 'failed',
  outcome: reason,
  bad: true,
});

const failed = (name: string, tookMs: number, reason: string): TimedStep => ({
  name,
  atMs: 0,
  tookMs,
  tone: 'failed',
  outcome: reason,
  bad: true,
  spent: CHECKED,
});

/** Of an answer that another call got, and this one's client was given too. */
const shared = ({ status, waits }: RecordedCall, callId: string, tookMs: number): TimedStep[] => [
  {
    name: 'Shared answer',
    atMs: 0,
    tookMs,
    rank: 'whole',
    tone: status === 'succeeded' ? 'stream' : 'failed',
    outcome: `of ${callId}`,
    bad: status !== 'succeeded',
    spent: 'sharing the response of another call',
    spentMs: Math.max(0, tookMs - (waits?.client?.ms ?? 0)),
  },
  ...stillSteps(waits ?? {}),
];
