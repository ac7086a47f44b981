import { count, exactUsd } from '../../platform/format/index.js';
import type { WaitRecord, WaitRecords } from '../../protocols/contract/index.js';
import type { CallAttempt, RecordedCall } from '../../usage/index.js';
import type { Step } from '../web/index.js';

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

const CHECKED = 'reading and checking the request';
const SHARED_WITH = /\(shared with (req_\w+)\)$/;

/**
 * The steps before the first attempt, or all of a call that has come to none.
 * @param untilMs when that began, or when the call ended
 */
function beginning(call: RecordedCall, untilMs: number, isAsked: boolean): TimedStep[] {
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

interface Phase {
  readonly name: string;
  readonly tone: TimedStep['tone'];
  /** From the attempt's beginning; null when it did not come to its end. */
  readonly endMs: number | null;
  readonly spent: string;
}

/** An attempt, where its time went, and what its answer stood still for, where that is known to have been this one's. */
function attemptSteps(
  call: RecordedCall,
  attempt: CallAttempt,
  { startMs, waits, asOperator }: { startMs: number; waits: WaitRecords; asOperator: boolean },
): TimedStep[] {
  const succeeded = attempt.outcome === 'succeeded';
  const whole: TimedStep = {
    name: `Attempt ${attempt.ordinal}`,
    atMs: startMs,
    tookMs: attempt.durationMs,
    rank: 'whole',
    tone: succeeded ? 'stream' : 'failed',
    outcome: outcomeText(attempt, asOperator),
    bad: !succeeded,
    ...(attempt.reason !== '' && { reason: attempt.reason }),
  };
  const held = (waits.client?.ms ?? 0) + (waits.credit?.ms ?? 0);
  return [whole, ...partsOf(call, attempt, startMs, held), ...stillSteps(waits)];
}

function phasesOf({ stream }: RecordedCall, attempt: CallAttempt): readonly Phase[] {
  const { upstreamStatus, connectMs, headersMs, firstByteMs, firstTokenMs } = attempt;
  const isStream = firstTokenMs !== null || (stream && upstreamStatus !== null && upstreamStatus < 300);
  const waiting = isStream || stream ? 'waiting for the first token' : 'waiting for the response';
  return [
    { name: 'Connect', tone: 'connect', endMs: connectMs, spent: 'connecting to the upstream' },
    { name: 'Wait for the response', tone: 'wait', endMs: headersMs, spent: waiting },
    { name: 'Wait for the first byte', tone: 'wait', endMs: firstByteMs, spent: waiting },
    isStream
      ? { name: 'Wait for the first token', tone: 'wait', endMs: firstTokenMs, spent: waiting }
      : { name: 'Read the response', tone: 'wait', endMs: firstTokenMs, spent: 'reading the response' },
    { name: 'Stream', tone: 'stream', endMs: null, spent: 'streaming the response' },
  ];
}

/** Where the time of an attempt went: the phases that it has come through, and the one in which it ended. */
function partsOf(call: RecordedCall, attempt: CallAttempt, startMs: number, heldMs: number): TimedStep[] {
  const phases = phasesOf(call, attempt);
  const last = phases.findLastIndex(({ endMs }) => endMs !== null) + 1;
  const parts: TimedStep[] = [];
  let at = 0;
  phases.slice(0, last + 1).forEach(({ name, tone, endMs, spent }, index) => {
    const end = index === last ? attempt.durationMs : (endMs ?? at);
    // An upstream that is not read from is waited for by nobody.
    const spentMs = index === last ? Math.max(0, end - at - heldMs) : end - at;
    // A connection that was there already takes no time, and headers mostly come with the body.
    if (end > at)
      parts.push({ name, atMs: startMs + at, tookMs: end - at, rank: 'part', tone, outcome: '', spent, spentMs });
    at = Math.max(at, end);
  });
  return isLost(attempt) ? parts.map((part) => ({ ...part, spent: LOST })) : parts;
}

/** Nothing of its answer was of use. */
const LOST = 'on attempts that failed';
const isLost = ({ outcome, firstTokenMs }: CallAttempt): boolean =>
  firstTokenMs === null && !['succeeded', 'cancelled', 'context_canceled'].includes(outcome);

/** What the answer stood still for, as often as it did, on one line each. */
function stillSteps({ client, credit }: WaitRecords): TimedStep[] {
  return [
    ...(client ? [stillStep('Paused by the client', client, 'client', 'waiting for the client to read')] : []),
    ...(credit ? [stillStep('Wait for a larger hold', credit, 'ours', 'waiting for a larger hold')] : []),
  ];
}

const stillStep = (
  name: string,
  { count: times, ms, spans }: WaitRecord,
  tone: TimedStep['tone'],
  spent: string,
): TimedStep => ({
  name,
  atMs: spans[0]?.[0] ?? null,
  tookMs: ms,
  bars: spans.map(([atMs, tookMs]) => ({ atMs, tookMs })),
  rank: 'part',
  tone,
  outcome: times === 1 ? '' : `${count(times)} times`,
  spent,
});

function outcomeText(attempt: CallAttempt, asOperator: boolean): string {
  const { outcome, upstreamStatus, channel, credential, upstreamModel } = attempt;
  const words = outcome === 'succeeded' ? 'completed' : outcome.replaceAll('_', ' ');
  if (!asOperator) return words;
  // The first one is what most channels have.
  const account = (credential ?? 1) > 1 ? `credential ${credential}` : '';
  return [words, upstreamStatus, channel, account, upstreamModel]
    .filter((part) => part !== null && part !== '')
    .join(', ');
}

/** A step, and what its time was spent on, as it stands behind "was spent"; absent where other steps say it. */
export interface TimedStep extends Step {
  readonly spent?: string;
  /** Of the time that it took; all of it when absent. */
  readonly spentMs?: number;
}

/** Each time is rounded for itself, so that a gap of less, in ms, may be none. */
const MIN_GAP_MS = 2;

/** One of ours between two moments of the call, unless that is no time. */
const gapStep = (name: string, fromMs: number, toMs: number, rest: Partial<TimedStep>): TimedStep[] =>
  toMs - fromMs < MIN_GAP_MS ? [] : [{ name, atMs: fromMs, tookMs: toMs - fromMs, tone: 'ours', ...rest }];

/** @param why it came to nothing; empty when it did not */
const choosing = (fromMs: number, toMs: number, why = ''): TimedStep[] =>
  gapStep('Choose an upstream', fromMs, toMs, { outcome: why, bad: why !== '', spent: 'choosing an upstream' });
