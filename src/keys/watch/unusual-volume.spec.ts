import { nanos, parseUsd, ZERO } from '../../platform/shared/index.js';
import { type Spending, unusualThreshold } from './key-watch.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * 86_400_000);
const usd = (text: string) => parseUsd(text);
const over = (lastHour: bigint, hours: readonly string[], since: Spending['since'] = daysAgo(10)) =>
  unusualThreshold({ lastHour: nanos(lastHour), hours: hours.map(usd), since }, NOW);

describe('unusualThreshold', () => {
  it('reports one nano-dollar above five times the previous maximum', () => {
    expect(over(usd('10'), ['2', '0.5'])).toBeUndefined();
    expect(over(usd('10') + 1n, ['2', '0.5'])).toBe(usd('2'));
    expect(over(usd('10') + 1n, ['0.5', '2.000000001'])).toBeUndefined();
  });

  it('ignores less than five dollars, whatever the previous maximum', () => {
    expect(over(usd('5') - 1n, ['0.01'])).toBeUndefined();
    expect(over(usd('5'), ['0.01'])).toBe(usd('0.01'));
  });

  it('reports spending after fourteen days without calls', () => {
    expect(over(usd('5'), [])).toBe(ZERO);
  });

  it('reports nothing during the first three days of use', () => {
    expect(over(usd('100'), ['1'], daysAgo(2.999))).toBeUndefined();
    expect(over(usd('100'), ['1'], daysAgo(3))).toBe(usd('1'));
    expect(unusualThreshold({ lastHour: usd('100'), hours: [], since: undefined }, NOW)).toBeUndefined();
  });

  it('is exact beyond the precision of numbers', () => {
    const largest = 9_007_199_254_740_993n;
    expect(
      unusualThreshold({ lastHour: nanos(5n * largest), hours: [nanos(largest)], since: daysAgo(9) }, NOW),
    ).toBeUndefined();
    expect(
      unusualThreshold({ lastHour: nanos(5n * largest + 1n), hours: [nanos(largest)], since: daysAgo(9) }, NOW),
    ).toBe(largest);
  });
});
