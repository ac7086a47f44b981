import { marginOf, marginText } from './margin.js';

describe('a margin', () => {
  it.each([
    [10n, 8n, 2n, '20%', false],
    [10n, 10n, 0n, '0%', false],
    [10n, 15n, -5n, '−50%', true],
    [0n, 5n, -5n, '–', true],
    [0n, 0n, 0n, '–', false],
  ])('of a charge of %s and a cost of %s is %s, %s', (charged, cost, amount, share, isLoss) => {
    expect(marginOf(charged, cost)).toEqual({ amount, share, isLoss });
  });

  it('is unknown where the cost is, and where nothing is charged yet', () => {
    expect(marginOf(10n, null)).toBeUndefined();
    expect(marginOf(null, 10n)).toBeUndefined();
  });

  it('is called a loss where it is one', () => {
    const usd = 1_000_000_000n;
    expect(marginText({ amount: 2n * usd, share: '20%', isLoss: false })).toBe('margin $2.00, 20%');
    expect(marginText({ amount: -2n * usd, share: '−20%', isLoss: true })).toBe('loss $2.00, −20%');
    expect(marginText({ amount: -2n * usd, share: '–', isLoss: true })).toBe('loss $2.00');
  });
});
