import { formatUsd, parseUsd } from '../../../platform/shared/index.js';
import { scaled, scaledPrice } from './pricing.view.js';

const shown = (price: string, multiplier: bigint): string => scaledPrice(scaled(parseUsd(price), multiplier));

describe('a price after a multiplier', () => {
  it.each([
    ['2.5', 800_000n, '$2.00'],
    ['0.28', 800_000n, '$0.224'],
    ['0.028', 800_000n, '$0.0224'],
    ['15', 1_000_000n, '$15.00'],
    ['0', 800_000n, '$0.00'],
    ['1234.5', 1_000_000n, '$1,234.50'],
    // 0.1 × 0.7 is 0.06999999999999999 in floating point.
    ['0.1', 700_000n, '$0.07'],
  ])('$%s × %s millionths is %s', (price, multiplier, text) => {
    expect(shown(price, multiplier)).toBe(text);
  });

  it('keeps every digit that both have', () => {
    expect(shown('0.000000001', 1n)).toBe('$0.000000000000001');
    expect(shown('999999999.999999999', 999_999n)).toBe('$999,998,999.999999999000001');
  });

  it('is the price itself under a multiplier of one', () => {
    const price = parseUsd('1.234567891');
    expect(scaledPrice(scaled(price, 1_000_000n))).toBe(`$${formatUsd(price)}`);
  });
});
