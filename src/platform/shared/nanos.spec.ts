import { formatUsd, parseUsd } from './nanos.js';

describe('amounts of money', () => {
  it.each([
    ['0', 0n],
    ['12', 12_000_000_000n],
    ['0.000000001', 1n],
    ['-5', -5_000_000_000n],
    ['+1.25', 1_250_000_000n],
    ['007.10', 7_100_000_000n],
    ['999999999.999999999', 999_999_999_999_999_999n],
  ])('%s dollars are %s nano-dollars', (text, amount) => {
    expect(parseUsd(text)).toBe(amount);
  });

  it.each(['', '.', '1.', '.5', '1e3', '0.0000000001', '1,5', '$1', '1000000000', 'NaN', '--1', '1 2'])(
    'refuses %s instead of guessing',
    (text) => {
      expect(() => parseUsd(text)).toThrow(`"${text}" is not a valid amount`);
    },
  );

  it('are written as plain decimals without trailing zeros', () => {
    expect([0n, 1n, -1n, 1_500_000_000n, -12_000_000_000n].map(formatUsd)).toEqual([
      '0',
      '0.000000001',
      '-0.000000001',
      '1.5',
      '-12',
    ]);
  });
});
