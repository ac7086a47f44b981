import { exactUsd, type Step } from '../../web/index.js';
import type { CallAttempt } from '../call-details.js';
import type { RecordedCall } from '../recorded-call.js';

/** The steps of a call on its own scale. @param asOperator whether channels and what upstreams answered are named */
export function callSteps(call: RecordedCall, attempts: readonly CallAttempt[], asOperator: boolean): Step[] {
  const total = call.durationMs ?? 0;
  // Nothing was accepted or held, and so nothing is settled.
  if (call.status === 'refused' && attempts.length === 0)
    return [{ name: 'Checked: refused', atMs: 0, tookMs: total, tone: 'failed', outcome: call.errorReason, bad: true }];
  const beginning = (attempt: CallAttempt): number =>
    // Of one from before it was recorded: as if it had been the last, with nothing behind it.
    attempt.begunMs ?? Math.max(0, total - attempt.durationMs);
  const [first] = attempts;
  return [
    {
      name: 'Accepted, money held',
      atMs: 0,
      tookMs: first === undefined ? total : beginning(first),
      tone: 'ours',
      outcome: 'key, limits, balance',
    },
    ...attempts.flatMap((attempt) => attemptSteps(call, attempt, beginning(attempt), asOperator)),
    {
      name: 'Settled',
      atMs: total,
      tookMs: null,
      tone: 'ours',
      outcome: call.cost === null || call.cost === 0n ? 'not charged' : `charged ${exactUsd(call.cost)}`,
    },
  ];
}

function attemptSteps(call: RecordedCall, attempt: CallAttempt, start: number, asOperator: boolean): Step[] {
  const succeeded = attempt.outcome === 'succeeded';
  const whole: Step = {
    name: `Attempt ${attempt.ordinal}`,
    atMs: start,
    tookMs: attempt.durationMs,
    rank: 'whole',
    tone: succeeded ? 'stream' : 'failed',
    outcome: outcomeWords(attempt, asOperator),
    bad: !succeeded,
    ...(attempt.reason !== '' && { reason: attempt.reason }),
  };
  return [whole, ...partsOf(call, attempt, start)];
}

interface Phase {
  readonly name: string;
  readonly tone: Step['tone'];
  /** From the attempt's beginning; null when it did not come to its end. */
  readonly endMs: number | null;
}

function phasesOf({ stream }: RecordedCall, attempt: CallAttempt): readonly Phase[] {
  const { upstreamStatus, connectMs, headersMs, firstByteMs, firstTokenMs } = attempt;
  const isStream = firstTokenMs !== null || (stream && upstreamStatus !== null && upstreamStatus < 300);
  return [
    { name: 'Connect', tone: 'connect', endMs: connectMs },
    { name: 'Wait for the answer', tone: 'wait', endMs: headersMs },
    { name: 'Wait for its first byte', tone: 'wait', endMs: firstByteMs },
    { name: isStream ? 'Wait for the first token' : 'Read the answer', tone: 'wait', endMs: firstTokenMs },
    { name: 'Stream', tone: 'stream', endMs: null },
  ];
}

/** Where the time of an attempt went: the phases that it has come through, and the one in which it ended. */
function partsOf(call: RecordedCall, attempt: CallAttempt, start: number): Step[] {
  const phases = phasesOf(call, attempt);
  const last = phases.findLastIndex(({ endMs }) => endMs !== null) + 1;
  const parts: Step[] = [];
  let at = 0;
  phases.slice(0, last + 1).forEach(({ name, tone, endMs }, index) => {
    const end = index === last ? attempt.durationMs : (endMs ?? at);
    // A connection that was there already takes no time, and headers mostly come with the body.
    if (end > at) parts.push({ name, atMs: start + at, tookMs: end - at, rank: 'part', tone, outcome: '' });
    at = Math.max(at, end);
  });
  return parts;
}

function outcomeWords(attempt: CallAttempt, asOperator: boolean): string {
  const { outcome, upstreamStatus, channel, credential, upstreamModel } = attempt;
  const words = outcome === 'succeeded' ? 'completed' : outcome.replaceAll('_', ' ');
  if (!asOperator) return words;
  // The first one is what most channels have.
  const account = (credential ?? 1) > 1 ? `credential ${credential}` : '';
  return [words, upstreamStatus, channel, account, upstreamModel]
    .filter((part) => part !== null && part !== '')
    .join(', ');
}
