import { nanos } from '../../../platform/shared/index.js';
import { isCostKnown, marginOf, marginText } from './model-margins.js';

describe('isCostKnown', () => {
  it.each([
    ['no call has a known cost', { calls: 3, known: 0, cost: 0n, chargedOfKnown: 0n }, false],
    ['only free calls that failed have one', { calls: 28, known: 1, cost: 0n, chargedOfKnown: 0n }, false],
    ['all calls were free', { calls: 3, known: 3, cost: 0n, chargedOfKnown: 0n }, true],
    ['charged calls cost nothing', { calls: 3, known: 2, cost: 0n, chargedOfKnown: 5n }, true],
    ['some calls cost something', { calls: 3, known: 1, cost: 2n, chargedOfKnown: 5n }, true],
  ])('when %s', (_, { cost, chargedOfKnown, ...calls }, isKnown) => {
    expect(isCostKnown({ ...calls, cost: nanos(cost), chargedOfKnown: nanos(chargedOfKnown) })).toBe(isKnown);
  });
});

describe('marginOf and marginText', () => {
  it.each([
    [10n, 8n, 2n, '20%', false],
    [10n, 10n, 0n, '0%', false],
    [10n, 15n, -5n, '−50%', true],
    [0n, 5n, -5n, '–', true],
    [0n, 0n, 0n, '–', false],
  ])('calculates charge %s minus cost %s as %s, %s', (charged, cost, amount, share, isLoss) => {
    expect(marginOf(charged, cost)).toEqual({ amount, share, isLoss });
  });

  it('returns undefined when the cost or the charge is unknown', () => {
    expect(marginOf(10n, null)).toBeUndefined();
    expect(marginOf(null, 10n)).toBeUndefined();
  });

  it('describes a negative margin as a loss', () => {
    const usd = 1_000_000_000n;
    expect(marginText({ amount: 2n * usd, share: '20%', isLoss: false })).toBe('margin $2.00, 20%');
    expect(marginText({ amount: -2n * usd, share: '−20%', isLoss: true })).toBe('loss $2.00, −20%');
    expect(marginText({ amount: -2n * usd, share: '–', isLoss: true })).toBe('loss $2.00');
  });
});
