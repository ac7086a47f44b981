import fc from 'fast-check';
import { HeldClock } from '../../../test/support/held-clock.js';
import type { RateLimit, ConcurrencySlot, Acquisition } from './counts.js';
import { MemoryCounts, SLOT_WAIT_MS, SlidingWindow } from './memory-counts.js';

const WINDOW_MS = 60_000;
const count = (key: string, limit: number, amount = 1): RateLimit => ({ key, windowMs: WINDOW_MS, limit, amount });
const acquisition = (
  id: string,
  counts: readonly RateLimit[],
  slots: readonly ConcurrencySlot[] = [],
): Acquisition => ({
  id,
  counts,
  slots,
});

describe('MemoryCounts', () => {
  let clock: HeldClock;
  let counts: MemoryCounts;
  beforeEach(() => {
    clock = new HeldClock();
    counts = new MemoryCounts(clock);
  });
  const back = (id: string): void => counts.release({ id, slots: [], corrections: [] });

  it('takes nothing when any count or slot is exhausted', () => {
    const requested = acquisition(
      'a',
      [count('requests', 10), count('tokens', 100, 60)],
      [{ key: 'running', limit: 5 }],
    );
    expect(counts.decide(requested).refusal).toBeUndefined();
    const refused = counts.decide({ ...requested, id: 'b' });
    expect(refused.refusal?.which).toBe(1);
    expect(refused.statuses.map(({ used }) => used)).toEqual([1, 60]);
    expect(counts.size).toEqual({ windows: 2, slots: 1 });
  });

  it('reports the limit with the longest wait', () => {
    counts.decide(acquisition('a', [count('requests', 1)], [{ key: 'running', limit: 1 }]));
    const { refusal } = counts.decide(acquisition('b', [count('requests', 1)], [{ key: 'running', limit: 1 }]));
    expect(refusal?.which).toBe(0);
    expect(refusal?.waitMs).toBeGreaterThan(SLOT_WAIT_MS);
    const never = counts.decide(acquisition('c', [count('requests', 1), count('tokens', 5, 6)]));
    expect(never.refusal).toEqual({ which: 1, waitMs: undefined });
  });

  it('rejects without a retry time when the limit is zero', () => {
    expect(counts.decide(acquisition('a', [count('requests', 0)])).refusal).toEqual({ which: 0, waitMs: undefined });
    expect(counts.decide(acquisition('b', [], [{ key: 'running', limit: 0 }])).refusal).toEqual({
      which: 0,
      waitMs: undefined,
    });
  });

  it('returns slots only once', () => {
    const slot = [{ key: 'running', limit: 2 }];
    counts.decide(acquisition('a', [], slot));
    counts.decide(acquisition('b', [], slot));
    back('a');
    back('a');
    expect(counts.decide(acquisition('c', [], slot)).refusal).toBeUndefined();
    expect(counts.decide(acquisition('d', [], slot)).refusal).toEqual({ which: 0, waitMs: SLOT_WAIT_MS });
  });

  it('never runs more than the slots, and frees all slots at the end', () => {
    const steps = fc.array(fc.record({ acquire: fc.boolean(), key: fc.constantFrom('a', 'b'), pick: fc.nat() }), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const own = new MemoryCounts(clock);
        let running: { readonly id: string; readonly key: string }[] = [];
        for (const [index, { acquire, key, pick }] of list.entries()) {
          const id = String(index);
          const before = running.filter((one) => one.key === key).length;
          if (acquire) {
            const { refusal } = own.decide(acquisition(id, [], [{ key, limit: 3 }]));
            expect(refusal === undefined).toBe(before < 3);
            if (refusal === undefined) running.push({ id, key });
          } else if (running.length > 0) {
            const ended = running[pick % running.length]!;
            running = running.filter((one) => one !== ended);
            own.release({ id: ended.id, slots: [ended.key], corrections: [] });
          }
        }
        for (const { id, key } of running) own.release({ id, slots: [key], corrections: [] });
        expect(own.size.slots).toBe(0);
        for (const index of [1, 2, 3])
          expect(own.decide(acquisition(`end ${index}`, [], [{ key: 'a', limit: 3 }])).refusal).toBeUndefined();
      }),
    );
  });

  it('drops counts unused for two minutes', () => {
    for (let index = 0; index < 1000; index += 1) counts.decide(acquisition('a', [count(`address ${index}`, 5)]));
    clock.pass(121);
    for (let index = 0; index < 1000; index += 1) counts.decide(acquisition('b', [count('the same', 5000)]));
    counts.decide(acquisition('c', [count('another', 5)]));
    for (let index = 0; index < 600; index += 1) counts.decide(acquisition('d', [count(`new ${index}`, 5)]));
    expect(counts.size.windows).toBeLessThanOrEqual(602);
  });

  it('stays within its maximum, dropping the least recently used', () => {
    const small = new MemoryCounts(clock, 100);
    for (let index = 0; index < 10_000; index += 1) small.decide(acquisition('a', [count(`address ${index}`, 5)]));
    expect(small.size.windows).toBeLessThanOrEqual(100);
  });

  it('continues from a correction', () => {
    const { statuses } = counts.decide(acquisition('a', [count('tokens', 100, 40)]));
    const window = statuses[0]!.window;
    const correct = (amount: number): void =>
      counts.release({ id: 'a', slots: [], corrections: [{ key: 'tokens', windowMs: WINDOW_MS, window, amount }] });
    const used = (): number => counts.decide(acquisition('look', [count('tokens', 1000, 0)])).statuses[0]!.used;
    correct(-30);
    expect(used()).toBe(10);
    correct(500);
    expect(used()).toBe(510);
    expect(counts.decide(acquisition('b', [count('tokens', 100, 1)])).refusal?.waitMs).toBeGreaterThan(60_000);
  });
});

/** Where a window of the clock begins. */
const START_MS = 29_000_000 * WINDOW_MS;

const windowAt = (nowMs: number): SlidingWindow => {
  const window = new SlidingWindow(WINDOW_MS);
  window.moveTo(nowMs);
  return window;
};

/** Asks for one at each moment, and gives those at which it was granted. */
function granted(limit: number, momentsMs: readonly number[]): number[] {
  const window = windowAt(START_MS);
  return momentsMs.filter((ms) => {
    window.moveTo(START_MS + ms);
    if (window.waitMs(1, limit) !== 0) return false;
    window.add(1);
    return true;
  });
}

const limits = fc.integer({ min: 1, max: 20 });
const moments = fc
  .array(fc.nat({ max: 8 * WINDOW_MS }), { minLength: 50, maxLength: 300 })
  .map((list) => list.toSorted((one, other) => one - other));

describe('SlidingWindow', () => {
  it('grants exactly the limit to concurrent requests', () => {
    expect(granted(7, Array<number>(50).fill(1000))).toHaveLength(7);
  });

  it('never grants more than the limit within one window of the clock', () => {
    fc.assert(
      fc.property(limits, moments, (limit, momentsMs) => {
        const windows = granted(limit, momentsMs).map((ms) => Math.floor(ms / WINDOW_MS));
        for (const window of windows)
          expect(windows.filter((other) => other === window).length).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it('never grants more than twice the limit in any stretch of a window’s length', () => {
    fc.assert(
      fc.property(limits, moments, (limit, momentsMs) => {
        const all = granted(limit, momentsMs);
        for (const [index, ms] of all.entries())
          expect(all.slice(index).filter((other) => other < ms + WINDOW_MS).length).toBeLessThanOrEqual(2 * limit);
      }),
    );
  });

  it('never grants more than one window above the limit under sustained load', () => {
    const everySecond = Array.from({ length: 600 }, (_, second) => second * 1000);
    expect(granted(20, everySecond).length).toBeLessThanOrEqual(11 * 20);
    expect(granted(20, everySecond).length).toBeGreaterThanOrEqual(9 * 20);
  });

  it('decays a burst at the end of a window during the next one', () => {
    const window = windowAt(START_MS + 59_999);
    window.add(60);
    window.moveTo(START_MS + WINDOW_MS);
    expect(window.waitMs(1, 60)).toBe(1000);
    window.moveTo(START_MS + WINDOW_MS + 30_000);
    expect(window.status()).toEqual({ used: 30, resetMs: 30_000, window: START_MS / WINDOW_MS + 1 });
  });

  it('returns the exact wait for a request, or never when it exceeds the limit', () => {
    fc.assert(
      fc.property(limits, moments, fc.integer({ min: 1, max: 25 }), (limit, momentsMs, amount) => {
        const window = windowAt(START_MS);
        for (const ms of momentsMs) {
          window.moveTo(START_MS + ms);
          if (window.waitMs(1, limit) === 0) window.add(1);
        }
        const nowMs = START_MS + (momentsMs.at(-1) ?? 0);
        const waitMs = window.waitMs(amount, limit);
        expect(waitMs === undefined).toBe(amount > limit);
        if (waitMs === undefined || waitMs === 0) return;
        window.moveTo(nowMs + waitMs - 1);
        expect(window.waitMs(amount, limit)).not.toBe(0);
        window.moveTo(nowMs + waitMs);
        expect(window.waitMs(amount, limit)).toBe(0);
      }),
    );
  });

  it('is empty at its reset time', () => {
    const window = windowAt(START_MS + 20_000);
    window.add(5);
    expect(window.status().resetMs).toBe(100_000);
    window.moveTo(START_MS + 120_000);
    expect([window.status().used, window.isEmpty]).toEqual([0, true]);
  });

  it('subtracts corrections from their window, and adds to the current one', () => {
    const window = windowAt(START_MS);
    window.add(100);
    const { window: taken } = window.status();
    window.moveTo(START_MS + WINDOW_MS);
    window.add(10);
    window.correct(-40, taken);
    expect(window.status().used).toBe(70);
    window.correct(5, taken);
    expect(window.status().used).toBe(75);
    window.moveTo(START_MS + 2 * WINDOW_MS);
    window.correct(-60, taken);
    expect(window.status().used).toBe(15);
  });

  it('does not move while the clock is set back', () => {
    const window = windowAt(START_MS);
    window.add(3);
    window.moveTo(START_MS - 10 * WINDOW_MS);
    expect(window.status()).toMatchObject({ used: 3, resetMs: 2 * WINDOW_MS });
  });
});
