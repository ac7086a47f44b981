import type { PricingDefinition } from '../../../catalog/index.js';
import { changeText, comparedItems, priceItems } from './price-items.js';

const pricing = (overrides: Partial<PricingDefinition> = {}): PricingDefinition => ({
  free: false,
  tiers: [{ from_prompt_tokens: 0, input: '3', output: '15' }],
  effort_multipliers: {},
  request_fee: '0',
  ...overrides,
});

describe('priceItems', () => {
  it('lists prices by label, without defaults', () => {
    const tiers = [
      { from_prompt_tokens: 0, input: '3', output: '15', cache_read: '0.3' },
      { from_prompt_tokens: 200_000, input: '6', output: '22.5' },
    ];
    expect([...priceItems(pricing({ tiers }))]).toEqual([
      ['input', '$3.00'],
      ['cache read', '$0.30'],
      ['output', '$15.00'],
      ['input from 200,000 tokens', '$6.00'],
      ['output from 200,000 tokens', '$22.50'],
    ]);
  });

  it('lists fees and multipliers, and no token prices when tokens are free', () => {
    const besides = {
      request_fee: '0.02',
      tool_fees: { web_search: '0.01' },
      effort_multipliers: { high: '1.5' },
      service_tiers: { flex: '0.5' },
      speeds: { fast: '6' },
      geos: { us: '1.1' },
      tool_max_uses: { web_search: 5 },
      image_generation: { text_input: '5', image_output: '30' },
    };
    expect([...priceItems(pricing({ free: true, tiers: [], ...besides }))]).toEqual([
      ['tokens', 'free'],
      ['fee per call', '$0.02'],
      ['fee per use of web_search', '$0.01'],
      ['max uses of web_search', '5'],
      ['image generation text input', '$5.00'],
      ['image generation image input', '$5.00'],
      ['image generation text output', '$30.00'],
      ['image generation image output', '$30.00'],
      ['effort high', '× 1.50'],
      ['service tier flex', '× 0.50'],
      ['speed fast', '× 6.00'],
      ['region us', '× 1.10'],
    ]);
  });
});

describe('comparedItems and changeWords', () => {
  const dearer = pricing({ tiers: [{ from_prompt_tokens: 0, input: '3', output: '16' }], request_fee: '0.02' });

  it('compares all items of either version', () => {
    expect(comparedItems(pricing(), dearer)).toEqual([
      { name: 'input', before: '$3.00', after: '$3.00', isChanged: false },
      { name: 'output', before: '$15.00', after: '$16.00', isChanged: true },
      { name: 'fee per call', before: undefined, after: '$0.02', isChanged: true },
    ]);
  });

  it.each([
    ['the first prices', undefined, pricing(), 'initial prices'],
    ['unchanged prices', pricing(), pricing(), 'no price changes'],
    ['an increase and a new fee', pricing(), dearer, 'output $15.00 → $16.00; fee per call – → $0.02'],
    ['a decrease and a removed fee', dearer, pricing(), 'output $16.00 → $15.00; fee per call $0.02 → –'],
    [
      'more than two changes',
      pricing(),
      pricing({ free: true, tiers: [], request_fee: '0.02' }),
      'tokens – → free; fee per call – → $0.02; and 2 more',
    ],
  ])('describes %s', (_, before, after, words) => {
    expect(changeText(before, after)).toBe(words);
  });
});
