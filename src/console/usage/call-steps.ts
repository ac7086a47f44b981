import { exactUsd } from '../../platform/format/index.js';
import type { CallAttempt, RecordedCall } from '../../usage/index.js';
import { attemptSteps } from './attempt-steps.js';
import { beginning } from './call-beginning.js';
import { choosing, gapStep, MIN_GAP_MS, type TimedStep } from './timed-step.js';

/** End of the timeline: milliseconds from the arrival of a finished call until it was sent to be recorded. */
export const endOf = ({ durationMs, settleWaitMs }: RecordedCall): number => (durationMs ?? 0) + (settleWaitMs ?? 0);

/** The timeline steps of a finished call. @param asOperator whether to name channels and upstream responses */
export function callSteps(call: RecordedCall, attempts: readonly CallAttempt[], asOperator: boolean): TimedStep[] {
  const total = call.durationMs ?? 0;
  const startOf = (attempt: CallAttempt): number =>
    // Attempts stored before this column existed: assume that the attempt ended with the call.
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
        // Only the last attempt sent a response to the client.
        ...attemptSteps(call, attempt, { startMs, waits: attempt === last ? still : {}, asOperator }),
      ];
    }),
    ...ending(call, last === undefined ? undefined : startOf(last) + last.durationMs),
  ];
}

/** Steps between two attempts. */
function between({ waits }: RecordedCall, fromMs: number, toMs: number): TimedStep[] {
  const pause = waits?.back_off?.spans.find(([atMs]) => atMs >= fromMs - 1 && atMs < toMs);
  if (pause === undefined) return choosing(fromMs, toMs);
  const [atMs, tookMs] = pause;
  const why = { outcome: 'after a transient error', spent: 'pausing before a retry' };
  return [
    ...choosing(fromMs, atMs),
    { name: 'Pause before retry', atMs, tookMs, tone: 'ours', ...why },
    ...choosing(atMs + tookMs, toMs),
  ];
}

/** Steps after the last attempt. @param attemptedMs end of that attempt; undefined if there was none */
function ending(call: RecordedCall, attemptedMs: number | undefined): TimedStep[] {
  const { status, cost, settleWaitMs } = call;
  const total = call.durationMs ?? 0;
  if (status === 'refused' && attemptedMs === undefined) return [];
  return [
    ...(attemptedMs === undefined || settleWaitMs === null ? [] : finishing(call, attemptedMs, total)),
    {
      name: 'Settled',
      atMs: total,
      // Until it was sent to the database.
      tookMs: settleWaitMs,
      tone: 'ours',
      spent: 'waiting to be recorded',
      outcome: cost === null || cost === 0n ? 'not charged' : `charged ${exactUsd(cost)}`,
    },
  ];
}

/** Time after the upstream finished. Empty if a wait in it has its own step. */
function finishing({ waits }: RecordedCall, fromMs: number, toMs: number): TimedStep[] {
  const all = Object.values(waits ?? {}).flatMap(({ spans }) => spans);
  if (all.some(([atMs, tookMs]) => atMs + tookMs > fromMs + MIN_GAP_MS)) return [];
  return gapStep('Finish the response', fromMs, toMs, { spent: 'finishing the response' });
}
