import type { PricingDefinition } from '../../../catalog/index.js';
import { changeWords, comparedItems, priceItems } from './price-items.js';

const pricing = (overrides: Partial<PricingDefinition> = {}): PricingDefinition => ({
  free: false,
  tiers: [{ from_prompt_tokens: 0, input: '3', output: '15' }],
  effort_multipliers: {},
  request_fee: '0',
  ...overrides,
});

describe('what prices say', () => {
  it('is each price by a name for people, without what stands at its default', () => {
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

  it('has what is charged beside tokens, and of what is free no price of tokens', () => {
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
      ['each call', '$0.02'],
      ['each use of web_search', '$0.01'],
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

describe('two versions of prices', () => {
  const dearer = pricing({ tiers: [{ from_prompt_tokens: 0, input: '3', output: '16' }], request_fee: '0.02' });

  it('stand side by side with everything that either says', () => {
    expect(comparedItems(pricing(), dearer)).toEqual([
      { name: 'input', before: '$3.00', after: '$3.00', isChanged: false },
      { name: 'output', before: '$15.00', after: '$16.00', isChanged: true },
      { name: 'each call', before: undefined, after: '$0.02', isChanged: true },
    ]);
  });

  it.each([
    ['the first there are', undefined, pricing(), 'first prices'],
    ['the same again', pricing(), pricing(), 'the same prices'],
    ['something dearer and something new', pricing(), dearer, 'output $16.00, was $15.00; each call $0.02, new'],
    ['what is not said any more', dearer, pricing(), 'output $15.00, was $16.00; each call no longer said, was $0.02'],
    [
      'more than two',
      pricing(),
      pricing({ free: true, tiers: [], request_fee: '0.02' }),
      'tokens free, new; each call $0.02, new; and 2 more',
    ],
  ])('tell %s in words', (_, before, after, words) => {
    expect(changeWords(before, after)).toBe(words);
  });
});
