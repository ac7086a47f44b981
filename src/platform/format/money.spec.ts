import fc from 'fast-check';
import { exactParts, exactUsd, price, usd } from './money.js';

const DOLLAR = 1_000_000_000n;

describe('money on pages', () => {
  it.each([
    [33_528_000n, '$0.03', '3528'],
    [1_234n, '$0.00', '0001234'],
    [1n, '$0.00', '0000001'],
    [0n, '$0.00', '0000'],
    [84n * DOLLAR + 120_000_000n, '$84.12', '0000'],
    [10_000n * DOLLAR, '$10,000.00', '0000'],
    [1_234_567n * DOLLAR + 890_123_450n, '$1,234,567.89', '012345'],
    [-33_528_000n, '−$0.03', '3528'],
  ])('%s nano-dollars are exactly %s, and %s with fractions of a cent', (amount, head, tail) => {
    expect(exactParts(amount)).toEqual({ head, tail });
  });

  it('keeps every digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -9_000_000_000_000_000_000n, max: 9_000_000_000_000_000_000n }), (amount) => {
        const [, sign, whole = '', fraction = ''] = /^(−?)\$([\d,]+)\.(\d{6,9})$/.exec(exactUsd(amount)) ?? [];
        const magnitude = BigInt(whole.replaceAll(',', '')) * DOLLAR + BigInt(fraction.padEnd(9, '0'));
        expect(sign === '−' ? -magnitude : magnitude).toBe(amount);
      }),
    );
  });

  it.each([
    [84_129_999_999n, '$84.12'],
    [999_999_999n, '$0.99'],
    [0n, '$0.00'],
    [100_000_000n, '$0.10'],
    [99_999_999n, '$0.099'],
    [17_900_000n, '$0.017'],
    [50_000_000n, '$0.05'],
    [10_000_000n, '$0.01'],
    [9_999_999n, '$0.0099'],
    [1n, '$0.000000001'],
    [-1n, '−$0.000000001'],
    [-3_080_000_000n, '−$3.08'],
    [9_000_000_000n * DOLLAR, '$9,000,000,000.00'],
  ])('%s nano-dollars in dollars and cents are %s, truncated', (amount, text) => {
    expect(usd(amount)).toBe(text);
  });

  it('shows a plus sign on request', () => {
    expect(usd(50n * DOLLAR, true)).toBe('+$50.00');
    expect(usd(0n, true)).toBe('$0.00');
    expect(usd(-50n * DOLLAR, true)).toBe('−$50.00');
  });

  it.each([
    [3_000_000_000n, '$3.00'],
    [125_000_000n, '$0.125'],
    [22_400_000n, '$0.0224'],
    [1n, '$0.000000001'],
    [2_400_000_000n, '$2.40'],
  ])('a price of %s nano-dollars is %s', (amount, text) => {
    expect(price(amount)).toBe(text);
  });
});
