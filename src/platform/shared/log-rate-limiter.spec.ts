import { jest } from '@jest/globals';
import { type SuppressedLines, LogRateLimiter } from './log-rate-limiter.js';

describe('LogRateLimiter', () => {
  const reported: SuppressedLines[] = [];
  let lines: LogRateLimiter;
  beforeEach(() => {
    jest.useFakeTimers();
    reported.length = 0;
    lines = new LogRateLimiter(20, (suppressed) => void reported.push(suppressed));
  });
  afterEach(() => jest.useRealTimers());

  const admitted = (key: string, times: number): number =>
    Array.from({ length: times }, () => lines.admit(key)).filter(Boolean).length;

  it('admits N lines per key and minute, and reports the number of suppressed ones', () => {
    expect([admitted('a', 1000), admitted('b', 20), admitted('c', 15), admitted('c', 15)]).toEqual([20, 20, 15, 5]);
    expect(reported).toEqual([]);
    jest.advanceTimersByTime(60_000);
    expect(reported).toEqual([
      { key: 'a', count: 1000, suppressed: 980 },
      { key: 'c', count: 30, suppressed: 10 },
    ]);
    expect(admitted('a', 1000)).toBe(20);
    expect(reported).toHaveLength(2);
  });

  it('keeps no timer while idle, and no state after the minute ends', () => {
    admitted('a', 30);
    jest.advanceTimersByTime(60_000);
    expect(jest.getTimerCount()).toBe(0);
    lines.end();
    expect(reported).toHaveLength(1);
  });

  it('tracks a bounded number of keys, and counts others together', () => {
    for (let index = 0; index < 10_000; index++) lines.admit(`early-${index}`);
    expect(Array.from({ length: 30 }, (_, index) => lines.admit(`late-${index}`)).filter(Boolean)).toHaveLength(20);
    expect(admitted('early-5', 30)).toBe(19);
    lines.end();
    expect(reported).toEqual([
      { key: 'early-5', count: 31, suppressed: 11 },
      { key: 'others', count: 30, suppressed: 10 },
    ]);
  });
});
