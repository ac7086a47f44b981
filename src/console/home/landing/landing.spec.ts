import { parsePricing } from '../../../catalog/index.js';
import { aGroup, anOffer, PROTOCOLS } from '../../../../test/support/offers.js';
import { landingView, receiptOf } from './landing.view.js';

const landing = (...models: ReturnType<typeof anOffer>[]) =>
  landingView({ group: aGroup(), models, dialects: PROTOCOLS, base: 'https://relay.example' });

describe('the landing page', () => {
  const codeOf = ({ firstCall }: ReturnType<typeof landing>): string => firstCall.map(({ text }) => text).join('');

  it('begins with a call that the newest model answers, by the address of the service', () => {
    const code = codeOf(landing(anOffer({ name: 'a' }, ['messages']), anOffer({ name: 'b' }, ['chat-completions'])));
    expect(code).toContain('curl https://relay.example/v1/messages ');
    expect(code).toContain('"model": "a"');
  });

  it('draws a cord from every dialect, also where no upstream speaks it', () => {
    expect(landing(anOffer({}, ['messages'])).panel.wires).toHaveLength(3);
  });

  it('says that every model answers every client only where it is so', () => {
    expect(landing(anOffer({}, ['messages'])).answersAll).toBe(true);
    expect(landing(anOffer(), anOffer({}, ['messages'], false)).answersAll).toBe(false);
  });

  it('asks for the key in a step of its own, which would take whatever is pasted behind it', () => {
    const { storeKey, firstCall } = landing();
    expect(storeKey.map(({ text }) => text).join('')).toMatch(/^read [^\n]+$/);
    expect(firstCall.map(({ text }) => text).join('')).not.toContain('read ');
  });

  it('can be shown before there is any model', () => {
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

  it('adds up: lines to the subtotal, times the group to what is charged', () => {
    const formula = receiptOf([anOffer({ pricing })], aGroup({ name: 'saver', multiplier: 800_000n }))?.formula;
    expect(formula?.lines.map(({ amount }) => textOf(amount))).toEqual(['$0.019830', '$0.012480', '$0.009600']);
    expect(formula && textOf(formula.subtotal)).toBe('$0.041910');
    expect(formula?.factors).toEqual([{ label: 'Group “saver”', text: '× 0.80' }]);
    expect(formula && textOf(formula.charged)).toBe('$0.033528');
  });

  it('is of a smaller call where the model cannot read so much, and prices it by the tier that it falls in', () => {
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

  it('is of a model whose formula shows what a cache saves, where there is one', () => {
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

  it('is none where nothing costs anything', () => {
    expect(receiptOf([anOffer({})], aGroup())).toBeUndefined();
  });
});
