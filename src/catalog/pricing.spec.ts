import {
  describePricing,
  formatMultiplier,
  FREE_PRICING,
  parseMultiplier,
  parsePricing,
  type PricingDefinition,
  type TierDefinition,
} from './pricing.js';

const aTier = (overrides: Partial<TierDefinition> = {}): TierDefinition => ({
  from_prompt_tokens: 0,
  input: '1.25',
  output: '10',
  ...overrides,
});
const aDefinition = (overrides: Partial<PricingDefinition> = {}): PricingDefinition => ({
  free: false,
  request_fee: '0',
  effort_multipliers: {},
  tiers: [aTier()],
  ...overrides,
});

describe('parsePricing', () => {
  it('reads dollars per million tokens into exact nano-dollars', () => {
    const { prices } = parsePricing(aDefinition({ tiers: [aTier({ cache_read: '0.000000001' })] })).tiers[0]!;
    expect(prices.input).toBe(1_250_000_000n);
    expect(prices.cache_read).toBe(1n);
  });

  it('defaults missing classes to the nearest priced class', () => {
    const { prices } = parsePricing(aDefinition()).tiers[0]!;
    expect(prices).toEqual({
      input: 1_250_000_000n,
      cache_read: 1_250_000_000n,
      cache_write_5m: 1_250_000_000n,
      cache_write_1h: 1_250_000_000n,
      cache_write_12h: 1_250_000_000n,
      output: 10_000_000_000n,
      reasoning: 10_000_000_000n,
      image_input: 1_250_000_000n,
      audio_input: 1_250_000_000n,
      audio_output: 10_000_000_000n,
    });
  });

  it('prices one-hour cache writes as five-minute ones when only those have a price', () => {
    const { prices } = parsePricing(aDefinition({ tiers: [aTier({ cache_write_5m: '1.5' })] })).tiers[0]!;
    expect([prices.cache_write_5m, prices.cache_write_1h]).toEqual([1_500_000_000n, 1_500_000_000n]);
  });

  it('prices twelve-hour cache writes as one-hour ones when only those have a price', () => {
    const { prices } = parsePricing(aDefinition({ tiers: [aTier({ cache_write_1h: '2' })] })).tiers[0]!;
    expect([prices.cache_write_5m, prices.cache_write_12h]).toEqual([1_250_000_000n, 2_000_000_000n]);
  });

  it('defaults image tokens to the text tokens of the same direction', () => {
    const image_generation = { text_input: '5', image_output: '30' };
    expect(parsePricing(aDefinition({ image_generation })).imageGeneration).toEqual({
      text_input: 5_000_000_000n,
      image_input: 5_000_000_000n,
      text_output: 30_000_000_000n,
      image_output: 30_000_000_000n,
    });
    expect(parsePricing(aDefinition()).imageGeneration).toBeUndefined();
    expect(parsePricing(aDefinition({ free: true, tiers: [], image_generation })).costsNothing).toBe(false);
  });

  it('keeps a price of zero, unlike a missing one', () => {
    const { prices } = parsePricing(aDefinition({ tiers: [aTier({ cache_read: '0', reasoning: '0' })] })).tiers[0]!;
    expect([prices.cache_read, prices.reasoning]).toEqual([0n, 0n]);
  });

  it('gives a free model one tier without costs', () => {
    expect(FREE_PRICING.costsNothing).toBe(true);
    expect(FREE_PRICING.tiers.map(({ fromPromptTokens }) => fromPromptTokens)).toEqual([0]);
    expect(Object.values(FREE_PRICING.tiers[0]!.prices).every((price) => price === 0n)).toBe(true);
  });

  it('charges the request fee of a model whose tokens are free', () => {
    const pricing = parsePricing(aDefinition({ free: true, tiers: [], request_fee: '0.04' }));
    expect(pricing.costsNothing).toBe(false);
    expect(pricing.requestFee).toBe(40_000_000n);
    expect(pricing.tiers[0]!.prices.input).toBe(0n);
  });

  it('reads effort multipliers into millionths', () => {
    const { effortMultipliers } = parsePricing(aDefinition({ effort_multipliers: { high: '1.5', max: '0.000001' } }));
    expect([...effortMultipliers]).toEqual([
      ['high', 1_500_000n],
      ['max', 1n],
    ]);
  });
});

describe('parseMultiplier', () => {
  it('is read and written without loss', () => {
    for (const text of ['0', '1', '0.8', '999999.999999', '0.000001'])
      expect(formatMultiplier(parseMultiplier(text))).toBe(text);
  });

  it('rejects what the database cannot store exactly', () => {
    for (const text of ['0.0000001', '1000000', '-1', '1e3', '', 'NaN'])
      expect(() => parseMultiplier(text)).toThrow(RangeError);
  });
});

describe('describePricing', () => {
  const described = (overrides: Partial<PricingDefinition>): string =>
    describePricing(parsePricing(aDefinition(overrides)));

  it('returns equal text for equal prices, however they were written', () => {
    expect(described({ tiers: [aTier({ cache_read: '1.25', reasoning: '10.00' })] })).toBe(described({}));
    expect(described({ effort_multipliers: { high: '1' } })).toBe(described({}));
    expect(described({ effort_multipliers: { high: '2', low: '3' } })).toBe(
      described({ effort_multipliers: { low: '3.0', high: '2' } }),
    );
  });

  it('returns another text when any price, tier, multiplier or fee differs', () => {
    const texts = [
      described({}),
      described({ tiers: [aTier({ audio_output: '11' })] }),
      described({ tiers: [aTier(), aTier({ from_prompt_tokens: 272_000 })] }),
      described({ effort_multipliers: { high: '2' } }),
      described({ request_fee: '0.000000001' }),
      described({ free: true, tiers: [] }),
      described({ speeds: { fast: '6' } }),
      described({ geos: { fast: '6' } }),
      described({ tool_fees: { web_search: '0' } }),
      described({ tool_max_uses: { web_search: 5 } }),
      described({ image_generation: { text_input: '5', image_output: '30' } }),
      described({ tiers: [aTier({ cache_write_12h: '11' })] }),
    ];
    expect(new Set(texts).size).toBe(texts.length);
  });
});
