import { aCallAttempt, aRecordedCall } from '../../../test/support/recorded-calls.js';
import type { CallAttempt } from '../../usage/calls/call-details.js';
import type { RecordedCall } from '../../usage/calls/recorded-call.js';
import { findingOf } from './call.view.js';
import { callSteps, endOf } from './call-steps.js';

function found(overrides: Partial<RecordedCall>, ...attempts: readonly CallAttempt[]): string | undefined {
  const call = aRecordedCall(overrides);
  return findingOf(callSteps(call, attempts, false), endOf(call));
}

describe('what is found of the time of a call', () => {
  it('is what most of it was spent on', () => {
    expect(found({}, aCallAttempt())).toBe('Most of the time, 70%, was spent streaming the response.');
    const slow = aCallAttempt({ headersMs: 500, firstByteMs: 600, firstTokenMs: 803 });
    expect(found({}, slow)).toBe('Most of the time, 78%, was spent waiting for the first token.');
  });

  it('is the largest part where nothing took half of it', () => {
    const even = aCallAttempt({ connectMs: 250, headersMs: 500, firstByteMs: 500, firstTokenMs: 560 });
    expect(found({}, even)).toBe('The largest part of the time, 43%, was spent streaming the response.');
  });

  it('does not take a slow client for a slow upstream', () => {
    const waits = {
      client: {
        count: 2,
        ms: 600,
        spans: [
          [300, 300],
          [650, 300],
        ],
      },
    } as const;
    expect(found({ waits }, aCallAttempt())).toBe('Most of the time, 60%, was spent waiting for the client to read.');
  });

  it('tells attempts that failed from the one that answered', () => {
    const failed = { outcome: 'timeout', headersMs: null, firstByteMs: null, firstTokenMs: null, durationMs: 600 };
    const second = aCallAttempt({ ordinal: 2, begunMs: 610, durationMs: 390 });
    expect(found({}, aCallAttempt({ ...failed, upstreamStatus: null }), second)).toBe(
      'Most of the time, 60%, was spent on attempts that failed.',
    );
  });

  it('knows of waiting to be recorded, behind the end of the answer', () => {
    expect(found({ settleWaitMs: 3000 }, aCallAttempt())).toBe(
      'Most of the time, 75%, was spent waiting to be recorded.',
    );
  });

  it('is nothing where it was over at once', () => {
    expect(found({ durationMs: 12, status: 'refused' })).toBeUndefined();
  });
});
