import type { WaitRecord, WaitRecords } from '../../protocols/contract/index.js';
import { count } from '../../platform/format/index.js';
import type { CallAttempt, RecordedCall } from '../../usage/index.js';
import type { TimedStep } from './timed-step.js';

interface Phase {
  readonly name: string;
  readonly tone: TimedStep['tone'];
  /** From the attempt's beginning; null when it did not come to its end. */
  readonly endMs: number | null;
  readonly spent: string;
}

/** An attempt, where its time went, and what its answer stood still for, where that is known to have been this one's. */
export function attemptSteps(
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
export function stillSteps({ client, credit }: WaitRecords): TimedStep[] {
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
