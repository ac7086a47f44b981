import { aRecordedCall } from '../../../test/support/recorded-calls.js';
import type { MoneyParts } from '../../platform/format/index.js';
import { nanos, parseUsd } from '../../platform/shared/index.js';
import type { CostLine, RecordedCall } from '../../usage/calls/recorded-call.js';
import { type CostFormula, costFormula } from './cost-formula.js';

const DIGITS = 45;
const SCALE = 10n ** BigInt(DIGITS);

/** In units of 1e-45 dollars. */
function unitsOf({ head, tail }: MoneyParts): bigint {
  const [whole = '', fraction = ''] = (head + tail).replaceAll(/[$,−]/g, '').split('.');
  const amount = BigInt(whole) * SCALE + BigInt(fraction.padEnd(DIGITS, '0'));
  return head.startsWith('−') ? -amount : amount;
}

const sum = (amounts: readonly MoneyParts[]): bigint => amounts.reduce((all, amount) => all + unitsOf(amount), 0n);

/** Recomputes the charge from the amounts shown. */
function recomputed({ subtotal, factors, passes, corrections }: CostFormula): bigint {
  const ofPasses = passes.map((pass) => {
    const amount = multiplied(sum(pass.lines.map((line) => line.amount)), pass.factors);
    expect(amount).toBe(unitsOf(pass.amount));
    return amount;
  });
  const added = ofPasses.reduce((all, amount) => all + amount, 0n);
  return multiplied(unitsOf(subtotal), factors) + added + sum(corrections.map(({ amount }) => amount));
}

const multiplied = (subtotal: bigint, factors: CostFormula['factors']): bigint =>
  factors.reduce((amount, { text }) => {
    const millionths = parseUsd(text.slice(2)) / 1000n;
    expect((amount * millionths) % 1_000_000n).toBe(0n);
    return (amount * millionths) / 1_000_000n;
  }, subtotal);

const multipliers = { effort_multiplier: '1', group_multiplier: '1', service_tier_multiplier: '1' };

const aCall = (lines: readonly CostLine[], cost: bigint, overrides: Partial<RecordedCall> = {}): RecordedCall =>
  aRecordedCall({ lines, cost: nanos(cost), snapshot: multipliers, ...overrides });

const LINES: readonly CostLine[] = [
  { item: 'input', quantity: 6610, price: '3' },
  { item: 'cache_read', quantity: 41600, price: '0.3' },
  { item: 'output', quantity: 320, price: '15' },
  { item: 'reasoning', quantity: 320, price: '15' },
];

describe('costFormula', () => {
  it.each<[string, RecordedCall]>([
    [
      'cached and reasoning tokens, and a multiplier',
      aCall(LINES, 33_528_000n, { snapshot: { ...multipliers, group_multiplier: '0.8' } }),
    ],
    ['no multiplier', aCall(LINES, 41_910_000n)],
    [
      'three multipliers',
      aCall([{ item: 'input', quantity: 7, price: '0.123456789' }], 1042n, {
        snapshot: {
          service_tier: 'priority',
          service_tier_multiplier: '2.000001',
          effort_multiplier: '1.5',
          group_multiplier: '0.402',
        },
      }),
    ],
    [
      'all five multipliers',
      aCall([{ item: 'input', quantity: 7, price: '0.123456789' }], 6879n, {
        snapshot: {
          service_tier: 'priority',
          service_tier_multiplier: '2.000001',
          speed: 'fast',
          speed_multiplier: '6.000001',
          geo: 'us',
          geo_multiplier: '1.100001',
          effort_multiplier: '1.5',
          group_multiplier: '0.402',
        },
      }),
    ],
    [
      'passes of this and of another model, at multipliers of their own',
      aCall(
        [
          { item: 'input', quantity: 1_000, price: '3' },
          { item: 'input', quantity: 500, price: '3', pass: 1, model: 'm' },
          { item: 'output', quantity: 77, price: '20.5', pass: 2, model: 'large' },
        ],
        3_600_000n + 473_550n,
        {
          snapshot: {
            ...multipliers,
            group_multiplier: '0.8',
            models: { large: { ...multipliers, group_multiplier: '0.3' } },
          },
        },
      ),
    ],
    ['generated images', aCall([{ item: 'image_generation:image_output', quantity: 1_000, price: '30' }], 30_000_000n)],
    ['a fraction of a nano-dollar', aCall([{ item: 'output', quantity: 1, price: '0.0004' }], 1n)],
    ['half a nano-dollar, rounded up', aCall([{ item: 'output', quantity: 3, price: '0.0005' }], 2n)],
    [
      'fees',
      aCall(
        [
          { item: 'tool:web_search', quantity: 3, price: '0.01' },
          { item: 'request_fee', quantity: 1, price: '0.02' },
        ],
        50_000_000n,
      ),
    ],
    ['what could not be collected', aCall(LINES, 1n, { uncollected: nanos(41_909_999n) })],
    ['a price of nothing', aCall([{ item: 'input', quantity: 5, price: '0' }], 0n)],
    ['a large prompt', aCall([{ item: 'input', quantity: 1_234_567, price: '1234.5' }], 1_524_072_961_500n)],
  ])('adds up to what was charged with %s, to the last digit', (_, call) => {
    const formula = costFormula(call)!;
    expect(sum(formula.lines.map(({ amount }) => amount))).toBe(unitsOf(formula.subtotal));
    expect(recomputed(formula)).toBe(unitsOf(formula.charged));
    expect(unitsOf(formula.charged)).toBe((call.cost ?? 0n) * 10n ** 36n);
  });

  it('shows amounts as in the log, with more digits only when needed', () => {
    const { lines, subtotal, factors, charged, adjusted } = costFormula(
      aCall(LINES, 33_528_000n, { snapshot: { ...multipliers, group_multiplier: '0.8' } }),
    )!;
    expect(lines.map(({ label, tokens, amount: { head, tail } }) => [label, tokens, head + tail])).toEqual([
      ['Input, not cached', 6610, '$0.019830'],
      ['Input read from cache', 41600, '$0.012480'],
      ['Output', 320, '$0.004800'],
      ['Reasoning', 320, '$0.004800'],
    ]);
    expect(subtotal).toEqual({ head: '$0.04', tail: '1910' });
    expect(factors).toEqual([{ label: 'Group “saver”', text: '× 0.80' }]);
    expect(charged).toEqual({ head: '$0.03', tail: '3528' });
    expect(adjusted).toBe(true);
    const plain = costFormula(aCall([{ item: 'input', quantity: 1, price: '1' }], 1000n))!;
    expect([plain.lines[0]!.label, plain.adjusted, plain.corrections]).toEqual(['Input', false, []]);
  });

  it('is undefined when nothing was priced', () => {
    expect(costFormula(aCall([], 0n))).toBeUndefined();
    expect(costFormula(aCall(LINES, 1n, { snapshot: null }))).toBeUndefined();
    expect(costFormula(aCall(LINES, 1n, { cost: null }))).toBeUndefined();
  });
});
