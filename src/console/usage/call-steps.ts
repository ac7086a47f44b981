import { exactUsd } from '../../platform/format/index.js';
import type { CallAttempt, RecordedCall } from '../../usage/index.js';
import { attemptSteps } from './attempt-steps.js';
import { beginning } from './call-beginning.js';
import { choosing, gapStep, MIN_GAP_MS, type TimedStep } from './timed-step.js';

/** Milliseconds from its arrival until a finished call was sent to be recorded: the end of its timeline. */
export const endOf = ({ durationMs, settleWaitMs }: RecordedCall): number => (durationMs ?? 0) + (settleWaitMs ?? 0);

/** The steps of a finished call on its own scale. @param asOperator whether channels and what upstreams answered are named */
export function callSteps(call: RecordedCall, attempts: readonly CallAttempt[], asOperator: boolean): TimedStep[] {
  const total = call.durationMs ?? 0;
  const startOf = (attempt: CallAttempt): number =>
    // Of one from before it was recorded: as if it had been the last, with nothing behind it.
    attempt.begunMs ?? Math.max(0, total - attempt.durationMs);
  const [first] = attempts;
  const last = attempts.at(-1);
  const { back_off: _, ...still } = call.waits ?? {};
  return [
    ...beginning(call, first === undefined ? total : startOf(first), first !== undefined),
    ...attempts.flatMap((attempt, index) => {
      const startMs = startOf(attempt);
      const before = attempts[index - 1];
      return [
        ...(before === undefined ? [] : between(call, startOf(before) + before.durationMs, startMs)),
        // Only of the last one an answer has reached the client.
        ...attemptSteps(call, attempt, { startMs, waits: attempt === last ? still : {}, asOperator }),
      ];
    }),
    ...ending(call, last === undefined ? undefined : startOf(last) + last.durationMs),
  ];
}

/** From the end of an attempt to the beginning of the next one. */
function between({ waits }: RecordedCall, fromMs: number, toMs: number): TimedStep[] {
  const pause = waits?.back_off?.spans.find(([atMs]) => atMs >= fromMs - 1 && atMs < toMs);
  if (pause === undefined) return choosing(fromMs, toMs);
  const [atMs, tookMs] = pause;
  const why = { outcome: 'to let an error pass', spent: 'pausing before a retry' };
  return [
    ...choosing(fromMs, atMs),
    { name: 'Pause before retry', atMs, tookMs, tone: 'ours', ...why },
    ...choosing(atMs + tookMs, toMs),
  ];
}

/** From the end of the last attempt on; undefined when there was none. */
function ending(call: RecordedCall, attemptedMs: number | undefined): TimedStep[] {
  const { status, cost, settleWaitMs } = call;
  const total = call.durationMs ?? 0;
  if (status === 'refused' && attemptedMs === undefined) return [];
  return [
    ...(attemptedMs === undefined || settleWaitMs === null ? [] : finishing(call, attemptedMs, total)),
    {
      name: 'Settled',
      atMs: total,
      // Until the database was sent it.
      tookMs: settleWaitMs,
      tone: 'ours',
      spent: 'waiting to be recorded',
      outcome: cost === null || cost === 0n ? 'not charged' : `charged ${exactUsd(cost)}`,
    },
  ];
}

/** What was left to do when the upstream had done its part. What held the answer back there has a line of its own. */
function finishing({ waits }: RecordedCall, fromMs: number, toMs: number): TimedStep[] {
  const all = Object.values(waits ?? {}).flatMap(({ spans }) => spans);
  if (all.some(([atMs, tookMs]) => atMs + tookMs > fromMs + MIN_GAP_MS)) return [];
  return gapStep('Finish the response', fromMs, toMs, { spent: 'finishing the response' });
}
