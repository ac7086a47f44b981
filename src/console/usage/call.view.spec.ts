import { aCallAttempt, aRecordedCall } from '../../../test/support/recorded-calls.js';
import type { CallAttempt } from '../../usage/calls/call-details.js';
import type { RecordedCall } from '../../usage/calls/recorded-call.js';
import { callSteps, endOf } from './call-steps.js';
import { billingText, findingOf } from './call.view.js';

function finding(overrides: Partial<RecordedCall>, ...attempts: readonly CallAttempt[]): string | undefined {
  const call = aRecordedCall(overrides);
  return findingOf(callSteps(call, attempts, false), endOf(call));
}

describe('findingOf', () => {
  it('names what took most of the time', () => {
    expect(finding({}, aCallAttempt())).toBe('Most of the time (70%) was spent streaming the response.');
    const slow = aCallAttempt({ headersMs: 500, firstByteMs: 600, firstTokenMs: 803 });
    expect(finding({}, slow)).toBe('Most of the time (78%) was spent waiting for the first token.');
  });

  it('names the biggest share when nothing took half of the time', () => {
    const even = aCallAttempt({ connectMs: 250, headersMs: 500, firstByteMs: 500, firstTokenMs: 560 });
    expect(finding({}, even)).toBe('The largest share of the time (43%) was spent streaming the response.');
  });

  it('does not mistake a slow client for a slow upstream', () => {
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
    expect(finding({ waits }, aCallAttempt())).toBe('Most of the time (60%) was spent waiting for the client to read.');
  });

  it('separates failed attempts from the successful one', () => {
    const failed = { outcome: 'timeout', headersMs: null, firstByteMs: null, firstTokenMs: null, durationMs: 600 };
    const second = aCallAttempt({ ordinal: 2, begunMs: 610, durationMs: 390 });
    expect(finding({}, aCallAttempt({ ...failed, upstreamStatus: null }), second)).toBe(
      'Most of the time (60%) was spent on attempts that failed.',
    );
  });

  it('includes the wait to be recorded after the response', () => {
    expect(finding({ settleWaitMs: 3000 }, aCallAttempt())).toBe(
      'Most of the time (75%) was spent waiting to be recorded.',
    );
  });

  it('is undefined when the call was short', () => {
    expect(finding({ durationMs: 12, status: 'refused' })).toBeUndefined();
  });
});

const report = { cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };

describe('billingText', () => {
  it('explains the correction when the usage was corrected', () => {
    const upstreamReport = {
      ...report,
      findings: ['prompt_too_large', 'completion_zero'],
      prompt_tokens: 1e10,
      completion_tokens: 0,
    };
    expect(billingText({ result: 'completed', billingBasis: 'corrected', upstreamReport })).toBe(
      'The upstream reported 10,000,000,000 prompt and 0 completion tokens, which is implausible (the prompt cannot have that many tokens, and the response was not empty). We counted the tokens ourselves and charged those.',
    );
  });

  it('names the missing part when the rest was counted', () => {
    const upstreamReport = { ...report, findings: ['prompt_missing'], prompt_tokens: null, completion_tokens: '-5' };
    expect(billingText({ result: 'completed', billingBasis: 'estimated', upstreamReport })).toBe(
      'The upstream reported only part of the usage (prompt not given, completion -5); we counted the rest ourselves.',
    );
  });
});
