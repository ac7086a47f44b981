import { compact, count, percent, times } from './numbers.js';

describe('numbers on pages', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1284, '1,284'],
    [1_234_567, '1,234,567'],
    [9_007_199_254_740_993n, '9,007,199,254,740,993'],
    [-1500, '−1,500'],
    [811.6, '812'],
  ])('%s is counted as %s', (value, text) => {
    expect(count(value)).toBe(text);
  });

  it.each([
    [9999, '9,999'],
    [10_000, '10k'],
    [48_210, '48.2k'],
    [128_000, '128k'],
    [400_000, '400k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [1_000_000, '1M'],
    [14_300_000, '14.3M'],
    [142_000_000, '142M'],
    [2_500_000_000n, '2.5B'],
  ])('%s abbreviated is %s', (value, text) => {
    expect(compact(value)).toBe(text);
  });

  it.each([
    [7, 1284, '0.5%'],
    [0, 10, '0%'],
    [10, 10, '100%'],
    [1, 100_000, '<0.1%'],
    [99_999, 100_000, '99.9%'],
    [41_600, 48_850, '85%'],
    [1, 0, '–'],
  ])('%s of %s are %s: 0 or 100 % only when exact', (part, whole, text) => {
    expect(percent(part, whole)).toBe(text);
  });
});

describe('a multiplier', () => {
  it.each([
    [800_000n, '× 0.80'],
    [1_000_000n, '× 1.00'],
    [12_500_000n, '× 12.50'],
    [1n, '× 0.000001'],
  ])('has at least two decimals, and all significant ones: %s', (millionths, text) => {
    expect(times(millionths)).toBe(text);
  });
});
