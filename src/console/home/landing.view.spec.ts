import { aGroup, anOffer, PROTOCOLS } from '../../../test/support/offers.js';
import { parsePricing } from '../../catalog/index.js';
import { landingView, receiptOf } from './landing.view.js';

const landing = (...models: ReturnType<typeof anOffer>[]) =>
  landingView({ group: aGroup(), models, protocols: PROTOCOLS, base: 'https://relay.example' });

describe('the landing page', () => {
  const codeOf = ({ firstCall }: ReturnType<typeof landing>): string => firstCall.map(({ text }) => text).join('');

  it('shows a call of the newest model at the public URL', () => {
    const code = codeOf(landing(anOffer({ name: 'a' }, ['messages']), anOffer({ name: 'b' }, ['chat-completions'])));
    expect(code).toContain('curl https://relay.example/v1/messages ');
    expect(code).toContain('"model": "a"');
  });

  it('draws a wire from every protocol, even if no upstream supports it natively', () => {
    expect(landing(anOffer({}, ['messages'])).panel.wires).toHaveLength(3);
  });

  it('claims support of all protocols by all models only when it is true', () => {
    expect(landing(anOffer({}, ['messages'])).supportsAll).toBe(true);
    expect(landing(anOffer(), anOffer({}, ['messages'], false)).supportsAll).toBe(false);
  });

  it('asks for the key in a separate step, which would consume text pasted after it', () => {
    const { storeKey, firstCall } = landing();
    expect(storeKey.map(({ text }) => text).join('')).toMatch(/^read [^\n]+$/);
    expect(firstCall.map(({ text }) => text).join('')).not.toContain('read ');
  });

  it('shows a placeholder when there are no models', () => {
    expect(codeOf(landing())).toContain('"model": "MODEL"');
    expect(landing().receipt).toBeUndefined();
  });
});

describe('the receipt of the landing page', () => {
  const pricing = parsePricing({
    free: false,
    request_fee: '0',
    effort_multipliers: {},
    tiers: [{ from_prompt_tokens: 0, input: '3', cache_read: '0.3', output: '15' }],
  });

  const textOf = ({ head, tail }: { head: string; tail: string }): string => head + tail;

  it('adds up: lines to the subtotal, times the group multiplier to the charge', () => {
    const formula = receiptOf([anOffer({ pricing })], aGroup({ name: 'saver', multiplier: 800_000n }))?.formula;
    expect(formula?.lines.map(({ amount }) => textOf(amount))).toEqual(['$0.019830', '$0.012480', '$0.009600']);
    expect(formula && textOf(formula.subtotal)).toBe('$0.041910');
    expect(formula?.factors).toEqual([{ label: 'Group “saver”', text: '× 0.80' }]);
    expect(formula && textOf(formula.charged)).toBe('$0.033528');
  });

  it('shows a smaller call, priced by its tier, when the context window is small', () => {
    const tiered = parsePricing({
      free: false,
      request_fee: '0.01',
      effort_multipliers: {},
      tiers: [
        { from_prompt_tokens: 0, input: '1', output: '1' },
        { from_prompt_tokens: 4000, input: '2', output: '5' },
      ],
    });
    const receipt = receiptOf([anOffer({ pricing: tiered, contextWindow: 32_000 })], aGroup());
    expect(receipt?.formula.lines.map(({ tokens, amount }) => [tokens, textOf(amount)])).toEqual([
      [660, '$0.001320'],
      [4160, '$0.008320'],
      [64, '$0.000320'],
      [1, '$0.010000'],
    ]);
    expect(receipt && textOf(receipt.formula.charged)).toBe('$0.019960');
  });

  it('prefers a model with a cache price', () => {
    const flat = parsePricing({
      free: false,
      request_fee: '0',
      effort_multipliers: {},
      tiers: [{ from_prompt_tokens: 0, input: '1', output: '1' }],
    });
    const offers = [
      anOffer({ name: 'free' }),
      anOffer({ name: 'flat', pricing: flat }),
      anOffer({ name: 'c', pricing }),
    ];
    expect(receiptOf(offers, aGroup())?.model).toBe('c');
    expect(receiptOf(offers.slice(0, 2), aGroup())?.model).toBe('flat');
  });

  it('is undefined when all models are free', () => {
    expect(receiptOf([anOffer({})], aGroup())).toBeUndefined();
  });
});
