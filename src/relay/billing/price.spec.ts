import { parsePricing } from '../../catalog/index.js';
import { parseUsd } from '../../platform/shared/index.js';
import type { TokenUsage } from '../../protocols/contract/index.js';
import { type PriceTerms, costOf, costItems, outputTokensFor } from './price.js';

const ONE = 1_000_000n;

const usage = (overrides: Partial<TokenUsage>): TokenUsage => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: 0,
  ...overrides,
});

/** $1.25 in, $0.125 cached, $10 out; twice that for input and half as much again for output from 272,000 tokens. */
const terms = (overrides: Partial<PriceTerms> = {}): PriceTerms => ({
  pricing: parsePricing({
    free: false,
    request_fee: '0',
    effort_multipliers: {},
    tiers: [
      { from_prompt_tokens: 0, input: '1.25', cache_read: '0.125', output: '10' },
      { from_prompt_tokens: 272_000, input: '2.5', cache_read: '0.25', output: '15' },
    ],
  }),
  serviceMultiplier: ONE,
  effortMultiplier: ONE,
  groupMultiplier: ONE,
  ...overrides,
});

const priced = (prices: object, request_fee = '0'): PriceTerms =>
  terms({
    pricing: parsePricing({
      free: false,
      request_fee,
      effort_multipliers: {},
      tiers: [{ from_prompt_tokens: 0, input: '0', output: '0', ...prices }],
    }),
  });

describe('the price of a call', () => {
  it('sums tokens times price per million', () => {
    // 1,000 × $1.25/M = $0.00125; 200 × $10/M = $0.002
    expect(costOf(terms(), usage({ input: 1000, output: 200 }))).toBe(parseUsd('0.00325'));
  });

  it('counts no token twice: cached tokens are part of the prompt, reasoning part of the output', () => {
    // 600 × $1.25/M + 400 × $0.125/M + 150 × $10/M + 50 × $10/M = 0.00075 + 0.00005 + 0.002
    expect(costOf(terms(), usage({ input: 1000, cacheRead: 400, output: 200, reasoning: 50 }))).toBe(
      parseUsd('0.0028'),
    );
  });

  it('prices cache writes by lifetime', () => {
    const cached = priced({ input: '3', cache_write_5m: '3.75', cache_write_1h: '6' });
    // 700 × $3/M + 200 × $3.75/M + 100 × $6/M = 0.0021 + 0.00075 + 0.0006
    expect(costOf(cached, usage({ input: 1000, cacheWrite: 200, cacheWrite1h: 100 }))).toBe(parseUsd('0.00345'));
  });

  it('prices the whole call in the tier of its prompt tokens, including cached ones', () => {
    // 271,999: 271,999 × $1.25/M = 0.33999875; 272,000 with 100,000 cached: 172,000 × 2.5/M + 100,000 × 0.25/M = 0.455
    expect(costOf(terms(), usage({ input: 271_999 }))).toBe(parseUsd('0.33999875'));
    expect(costOf(terms(), usage({ input: 272_000, cacheRead: 100_000 }))).toBe(parseUsd('0.455'));
  });

  it('multiplies by effort and by group', () => {
    // $0.00325 × 1.5 × 0.8 = $0.0039
    const multiplied = terms({ effortMultiplier: 1_500_000n, groupMultiplier: 800_000n });
    expect(costOf(multiplied, usage({ input: 1000, output: 200 }))).toBe(parseUsd('0.0039'));
  });

  it('rounds once, half up, after summing exactly', () => {
    // One token at $0.0005/M is half a nano-dollar; two classes of it are one whole nano-dollar, not two rounded ones.
    expect(costOf(priced({ input: '0.0015' }), usage({ input: 1 }))).toBe(2n);
    expect(costOf(priced({ input: '0.0005', output: '0.0005' }), usage({ input: 1, output: 1 }))).toBe(1n);
    expect(costOf(priced({ input: '0.0014' }), usage({ input: 1 }))).toBe(1n);
  });

  it('costs at least one nano-dollar when anything with a price was used', () => {
    expect(costOf(priced({ input: '0.000000001' }), usage({ input: 1 }))).toBe(1n);
    expect(costOf(priced({}), usage({ input: 1_000_000 }))).toBe(0n);
  });

  it('charges a request fee once, multiplied like everything else', () => {
    const fee = { ...priced({}, '0.02'), groupMultiplier: 500_000n };
    expect(costOf(fee, usage({ input: 5 }))).toBe(parseUsd('0.01'));
    expect(costItems(fee.pricing, usage({ input: 5 }))).toEqual([
      { item: 'input', quantity: 5, price: 0n, isFee: false },
      { item: 'request_fee', quantity: 1, price: parseUsd('0.02'), isFee: true },
    ]);
  });

  it('computes how much output a budget buys after a prompt', () => {
    // $0.01 − 1,000 × $1.25/M = $0.00875, at $10/M 875 tokens
    expect(outputTokensFor(terms(), usage({ input: 1000 }), parseUsd('0.01'))).toBe(875);
    expect(outputTokensFor(terms(), usage({ input: 1000 }), parseUsd('0.001'))).toBe(0);
    expect(outputTokensFor(priced({ input: '1' }), usage({ input: 1000 }), parseUsd('0.01'))).toBeUndefined();
  });
});
