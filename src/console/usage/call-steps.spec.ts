import { aCallAttempt, aRecordedCall } from '../../../test/support/recorded-calls.js';
import { nanos } from '../../platform/shared/index.js';
import type { CallAttempt } from '../../usage/calls/call-details.js';
import type { RecordedCall } from '../../usage/calls/recorded-call.js';
import { callSteps } from './call-steps.js';

const REFUSED: Partial<RecordedCall> = { status: 'refused', cost: nanos(0n), attempts: 0, durationMs: 12 };

/** Name, start, duration and outcome. */
const rows = (call: Partial<RecordedCall>, attempts: readonly CallAttempt[] = [], asAdmin = false) =>
  callSteps(aRecordedCall(call), attempts, asAdmin).map(({ name, atMs, tookMs, outcome }) => [
    name,
    atMs,
    tookMs,
    outcome,
  ]);

describe('callSteps', () => {
  it('lists checks, hold, attempt with its phases, and settlement', () => {
    expect(rows({ settleWaitMs: 3 }, [aCallAttempt({ begunMs: 9, durationMs: 985 })])).toEqual([
      ['Accepted and checked', 0, 4, 'key, limits'],
      ['Hold placed', 4, 3, 'balance, quota, budgets'],
      ['Choose an upstream', 7, 2, ''],
      ['Attempt 1', 9, 985, 'completed'],
      ['Connect', 9, 20, ''],
      ['Wait for the response', 29, 180, ''],
      ['Wait for the first token', 209, 93, ''],
      ['Stream', 302, 692, ''],
      ['Finish the response', 994, 6, undefined],
      ['Settled', 1000, 3, 'charged $0.000001'],
    ]);
  });

  it('omits steps that took no time, except the settlement', () => {
    const shown = rows({ holdBegunMs: 1 }, [aCallAttempt({ begunMs: 4, durationMs: 995, connectMs: 0 })]);
    expect(shown.map(([name]) => name)).toEqual([
      'Hold placed',
      'Attempt 1',
      'Wait for the response',
      'Wait for the first token',
      'Stream',
      'Settled',
    ]);
    expect(shown.at(-1)).toEqual(['Settled', 1000, 0, 'charged $0.000001']);
  });

  it('names the channel only for administrators', () => {
    expect(rows({}, [aCallAttempt()], true)).toContainEqual(['Attempt 1', 7, 993, 'completed, 200, main, their-m']);
    expect(JSON.stringify(rows({}, [aCallAttempt()]))).not.toContain('main');
  });

  it('shows the pause before a retry and other time between attempts', () => {
    const failure = { outcome: 'server_is_overloaded', upstreamStatus: 503, firstTokenMs: null, durationMs: 100 };
    const failed = aCallAttempt({ ...failure, headersMs: 90, firstByteMs: 90 });
    const second = aCallAttempt({ ordinal: 2, begunMs: 240, durationMs: 760 });
    const waits = { back_off: { count: 1, ms: 80, spans: [[110, 80]] } } as const;
    const shown = rows({ waits }, [failed, second]);
    const begin = shown.findIndex(([name]) => name === 'Choose an upstream');
    expect(shown.slice(begin, begin + 4)).toEqual([
      ['Choose an upstream', 107, 3, ''],
      ['Pause before retry', 110, 80, 'after a transient error'],
      ['Choose an upstream', 190, 50, ''],
      ['Attempt 2', 240, 760, 'completed'],
    ]);
  });

  it('shows pauses by the client and waits for holds in the last attempt, one line for each kind', () => {
    const waits = {
      client: {
        count: 3,
        ms: 250,
        spans: [
          [400, 100],
          [600, 160],
        ],
      },
      credit: { count: 1, ms: 20, spans: [[320, 20]] },
    } as const;
    const steps = callSteps(aRecordedCall({ waits }), [aCallAttempt()], false);
    expect(steps.filter(({ bars }) => bars !== undefined)).toMatchObject([
      {
        name: 'Paused by the client',
        atMs: 400,
        tookMs: 250,
        bars: [
          { atMs: 400, tookMs: 100 },
          { atMs: 600, tookMs: 160 },
        ],
        rank: 'part',
        outcome: '3 times',
      },
      { name: 'Increase the hold', atMs: 320, tookMs: 20, rank: 'part', outcome: '' },
    ]);
    expect(steps.findIndex(({ name }) => name === 'Paused by the client')).toBeGreaterThan(
      steps.findIndex(({ name }) => name === 'Stream'),
    );
  });

  it('ends with the refusal, without a settlement, when the call was refused', () => {
    const before = { ...REFUSED, holdBegunMs: null, holdMs: null, errorReason: 'invalid request' };
    expect(rows(before)).toEqual([['Rejected by checks', 0, 12, 'invalid request']]);
    expect(rows({ ...REFUSED, errorReason: 'insufficient quota' })).toEqual([
      ['Accepted and checked', 0, 4, 'key, limits'],
      ['Hold declined', 4, 3, 'insufficient quota'],
    ]);
  });

  it('shows the reason when no upstream was available', () => {
    const none = { status: 'failed', attempts: 0, cost: nanos(0n), errorReason: 'model unavailable' };
    expect(rows(none)).toEqual([
      ['Accepted and checked', 0, 4, 'key, limits'],
      ['Hold placed', 4, 3, 'balance, quota, budgets'],
      ['Choose an upstream', 7, 993, 'model unavailable'],
      ['Settled', 1000, 0, 'not charged'],
    ]);
  });

  it('shows the reason when the client disconnected before the hold', () => {
    const left = { status: 'cancelled', attempts: 0, cost: nanos(0n), errorReason: 'context canceled' };
    expect(rows({ ...left, holdBegunMs: null, holdMs: null })).toEqual([
      ['Accepted and checked', 0, 1000, 'context canceled'],
      ['Settled', 1000, 0, 'not charged'],
    ]);
  });

  it('names the other call when the response was shared', () => {
    const guest = { attempts: 0, cost: nanos(0n), holdBegunMs: null, holdMs: null };
    const waits = { client: { count: 1, ms: 400, spans: [[100, 400]] } } as const;
    expect(rows({ ...guest, waits, errorMessage: '(shared with req_9)' })).toEqual([
      ['Shared the response', 0, 1000, 'of req_9'],
      ['Paused by the client', 100, 400, ''],
      ['Settled', 1000, 0, 'not charged'],
    ]);
  });

  it('shows fewer steps when the times were not recorded', () => {
    const old = { holdBegunMs: null, holdMs: null, settleWaitMs: null };
    const steps = rows(old, [aCallAttempt({ durationMs: 900 })]);
    expect(steps[0]).toEqual(['Accepted, hold placed', 0, 7, 'key, limits, balance']);
    expect(steps.at(-1)).toEqual(['Settled', 1000, null, 'charged $0.000001']);
  });
});
