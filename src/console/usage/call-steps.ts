import { count, exactUsd } from '../../platform/format/index.js';
import type { WaitRecord, WaitRecords } from '../../protocols/contract/index.js';
import { type CallAttempt, type RecordedCall, TRANSPORT_LABELS } from '../../usage/index.js';
import type { WaterfallStep } from '../web/index.js';

/** End of the timeline: milliseconds from the arrival of a finished call until it was sent to be recorded. */
export const endOf = ({ durationMs, settleWaitMs }: RecordedCall): number => (durationMs ?? 0) + (settleWaitMs ?? 0);

/** The timeline steps of a finished call. @param asAdmin whether to name channels and upstream responses */
export function callSteps(call: RecordedCall, attempts: readonly CallAttempt[], asAdmin: boolean): TimedStep[] {
  const total = call.durationMs ?? 0;
  const startOf = (attempt: CallAttempt): number =>
    // Attempts stored before this column existed: assume that the attempt ended with the call.
    attempt.begunMs ?? Math.max(0, total - attempt.durationMs);
  const [first] = attempts;
  const last = attempts.at(-1);
  const { back_off: _, ...pauses } = call.waits ?? {};
  return [
    ...beginning(call, first === undefined ? total : startOf(first), first !== undefined),
    ...attempts.flatMap((attempt, index) => {
      const startMs = startOf(attempt);
      const before = attempts[index - 1];
      return [
        ...(before === undefined ? [] : between(call, startOf(before) + before.durationMs, startMs)),
        // Only the last attempt sent a response to the client.
        ...attemptSteps(call, attempt, { startMs, waits: attempt === last ? pauses : {}, asAdmin }),
      ];
    }),
    ...ending(call, last === undefined ? undefined : startOf(last) + last.durationMs),
  ];
}

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

/** Steps before the first attempt, or all steps without one. @param untilMs start of the attempt, or end of the call */
function beginning(call: RecordedCall, untilMs: number, hasAttempt: boolean): TimedStep[] {
  const { status, errorReason, errorMessage, holdBegunMs, holdMs, settleWaitMs } = call;
  const isRefused = status === 'refused' && !hasAttempt;
  if (holdBegunMs !== null && holdMs !== null) {
    const read = gapStep('Accepted and checked', 0, holdBegunMs, { outcome: 'key, limits', spent: CHECKED });
    if (isRefused) return [...read, holdRefused(holdBegunMs, holdMs, errorReason)];
    const chosen = choosing(holdBegunMs + holdMs, untilMs, hasAttempt ? '' : errorReason);
    return [...read, moneyHeld(holdBegunMs, holdMs), ...chosen];
  }
  if (isRefused) return [failed('Rejected by checks', untilMs, errorReason)];
  const sharedWith = SHARED_WITH.exec(errorMessage)?.[1];
  if (sharedWith !== undefined) return shared(call, sharedWith, untilMs);
  // The client disconnected before the hold.
  if (settleWaitMs !== null && !hasAttempt) return [failed('Accepted and checked', untilMs, errorReason)];
  return [{ name: 'Accepted, hold placed', atMs: 0, tookMs: untilMs, tone: 'ours', outcome: 'key, limits, balance' }];
}

const moneyHeld = (atMs: number, tookMs: number): TimedStep => ({
  name: 'Hold placed',
  atMs,
  tookMs,
  tone: 'ours',
  outcome: 'balance, quota, budgets',
  spent: 'reserving funds',
});

const holdRefused = (atMs: number, tookMs: number, reason: string): TimedStep => ({
  ...moneyHeld(atMs, tookMs),
  name: 'Hold declined',
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

const shared = ({ status, waits }: RecordedCall, callId: string, tookMs: number): TimedStep[] => [
  {
    name: 'Shared the response',
    atMs: 0,
    tookMs,
    rank: 'whole',
    tone: status === 'succeeded' ? 'stream' : 'failed',
    outcome: `of ${callId}`,
    bad: status !== 'succeeded',
    spent: 'sharing the response of another call',
    spentMs: Math.max(0, tookMs - (waits?.client?.ms ?? 0)),
  },
  ...pauseSteps(waits ?? {}),
];

interface Phase {
  readonly name: string;
  readonly tone: TimedStep['tone'];
  /** From the start of the attempt; null if it was not completed. */
  readonly endMs: number | null;
  readonly spent: string;
}

/** An attempt, its phases, and the pauses of its response. */
function attemptSteps(
  call: RecordedCall,
  attempt: CallAttempt,
  { startMs, waits, asAdmin }: { startMs: number; waits: WaitRecords; asAdmin: boolean },
): TimedStep[] {
  const succeeded = attempt.outcome === 'succeeded';
  const whole: TimedStep = {
    name: `Attempt ${attempt.ordinal}`,
    atMs: startMs,
    tookMs: attempt.durationMs,
    rank: 'whole',
    tone: succeeded ? 'stream' : 'failed',
    outcome: outcomeText(attempt, asAdmin),
    bad: !succeeded,
    ...(attempt.reason !== '' && { reason: attempt.reason }),
  };
  const held = (waits.client?.ms ?? 0) + (waits.credit?.ms ?? 0);
  return [whole, ...partsOf(call, attempt, startMs, held), ...pauseSteps(waits)];
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

/** The completed phases of an attempt, and the one in which it ended. */
function partsOf(call: RecordedCall, attempt: CallAttempt, startMs: number, heldMs: number): TimedStep[] {
  const phases = phasesOf(call, attempt);
  const last = phases.findLastIndex(({ endMs }) => endMs !== null) + 1;
  const parts: TimedStep[] = [];
  let at = 0;
  phases.slice(0, last + 1).forEach(({ name, tone, endMs, spent }, index) => {
    const end = index === last ? attempt.durationMs : (endMs ?? at);
    // While the response is paused, the time is not spent on the upstream.
    const spentMs = index === last ? Math.max(0, end - at - heldMs) : end - at;
    // Reused connections take no time, and headers often arrive with the body.
    if (end > at)
      parts.push({ name, atMs: startMs + at, tookMs: end - at, rank: 'part', tone, outcome: '', spent, spentMs });
    at = Math.max(at, end);
  });
  return isUseless(attempt) ? parts.map((part) => ({ ...part, spent: LOST })) : parts;
}

const LOST = 'on attempts that failed';
const isUseless = ({ outcome, firstTokenMs }: CallAttempt): boolean =>
  firstTokenMs === null && !['succeeded', 'cancelled', 'context_canceled'].includes(outcome);

/** Pauses of the response, one line for each kind. */
function pauseSteps({ client, credit }: WaitRecords): TimedStep[] {
  return [
    ...(client ? [pauseStep('Paused by the client', client, 'client', 'waiting for the client to read')] : []),
    ...(credit ? [pauseStep('Increase the hold', credit, 'ours', 'reserving more funds')] : []),
  ];
}

const pauseStep = (
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

function outcomeText(attempt: CallAttempt, asAdmin: boolean): string {
  const { outcome, upstreamStatus, channel, credential, upstreamModel, transport } = attempt;
  const result = outcome === 'succeeded' ? 'completed' : outcome.replaceAll('_', ' ');
  if (!asAdmin) return result;
  const account = (credential ?? 1) > 1 ? `credential ${credential}` : '';
  const socket = transport === 'websocket' ? TRANSPORT_LABELS.websocket : '';
  return [result, upstreamStatus, channel, account, upstreamModel, socket]
    .filter((part) => part !== null && part !== '')
    .join(', ');
}

export interface TimedStep extends WaterfallStep {
  /** Follows "was spent" in the finding; absent if other steps cover the time. */
  readonly spent?: string;
  /** Default: all of its time. */
  readonly spentMs?: number;
}

/** Times are rounded, so shorter gaps are ignored. */
const MIN_GAP_MS = 2;

/** A step of the relay itself; empty if it took no time. */
const gapStep = (name: string, fromMs: number, toMs: number, rest: Partial<TimedStep>): TimedStep[] =>
  toMs - fromMs < MIN_GAP_MS ? [] : [{ name, atMs: fromMs, tookMs: toMs - fromMs, tone: 'ours', ...rest }];

/** @param why it failed; empty if it did not */
const choosing = (fromMs: number, toMs: number, why = ''): TimedStep[] =>
  gapStep('Choose an upstream', fromMs, toMs, { outcome: why, bad: why !== '', spent: 'choosing an upstream' });
