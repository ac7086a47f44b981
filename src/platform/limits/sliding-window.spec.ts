import fc from 'fast-check';
import { SlidingWindow } from './memory-counts.js';

const WINDOW_MS = 60_000;
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
    expect(window.standing()).toEqual({ used: 30, resetMs: 30_000, window: START_MS / WINDOW_MS + 1 });
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
    expect(window.standing().resetMs).toBe(100_000);
    window.moveTo(START_MS + 120_000);
    expect([window.standing().used, window.isEmpty]).toEqual([0, true]);
  });

  it('subtracts corrections from their window, and adds to the current one', () => {
    const window = windowAt(START_MS);
    window.add(100);
    const { window: taken } = window.standing();
    window.moveTo(START_MS + WINDOW_MS);
    window.add(10);
    window.correct(-40, taken);
    expect(window.standing().used).toBe(70);
    window.correct(5, taken);
    expect(window.standing().used).toBe(75);
    window.moveTo(START_MS + 2 * WINDOW_MS);
    window.correct(-60, taken);
    expect(window.standing().used).toBe(15);
  });

  it('does not move while the clock is set back', () => {
    const window = windowAt(START_MS);
    window.add(3);
    window.moveTo(START_MS - 10 * WINDOW_MS);
    expect(window.standing()).toMatchObject({ used: 3, resetMs: 2 * WINDOW_MS });
  });
});
