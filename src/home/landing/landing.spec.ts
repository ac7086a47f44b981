import { parsePricing } from '../../catalog/index.js';
import { parseUsd } from '../../shared/index.js';
import { aGroup, anOffer, DIALECTS } from '../../../test/support/offers.js';
import { landingView } from './landing.view.js';
import { receiptOf } from './receipt.js';

const landing = (...models: ReturnType<typeof anOffer>[]) =>
  landingView({ group: aGroup(), models, dialects: DIALECTS, base: 'https://relay.example' });

describe('the landing page', () => {
  const codeOf = ({ quickStart }: ReturnType<typeof landing>): string => quickStart.map(({ text }) => text).join('');

  it('begins with a call that the newest model answers, by the address of the service', () => {
    const code = codeOf(landing(anOffer({ name: 'a' }, ['messages']), anOffer({ name: 'b' }, ['chat-completions'])));
    expect(code).toContain('export SWITCHBOARD_URL="https://relay.example"\n');
    expect(code).toContain('curl $SWITCHBOARD_URL/v1/messages ');
    expect(code).toContain('"model": "a"');
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

  it('adds up: lines to the subtotal, times the group to what is charged', () => {
    const receipt = receiptOf([anOffer({ pricing })], aGroup({ name: 'saver', multiplier: 800_000n }));
    expect(receipt?.lines.map(({ amount }) => amount)).toEqual([
      parseUsd('0.01983'),
      parseUsd('0.01248'),
      parseUsd('0.0096'),
    ]);
    expect(receipt?.subtotal).toBe(parseUsd('0.04191'));
    expect(receipt?.factors).toEqual([{ label: 'Group “saver”', text: '× 0.80' }]);
    expect(receipt?.charged).toBe(parseUsd('0.033528'));
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
    expect(receipt?.lines).toEqual([
      { label: 'Prompt, not cached', tokens: 660, price: parseUsd('2'), amount: parseUsd('0.00132') },
      { label: 'Prompt, read from cache', tokens: 4160, price: parseUsd('2'), amount: parseUsd('0.00832') },
      { label: 'Completion', tokens: 64, price: parseUsd('5'), amount: parseUsd('0.00032') },
      { label: 'Fee of each call', text: 'a call', amount: parseUsd('0.01') },
    ]);
    expect(receipt?.charged).toBe(parseUsd('0.01996'));
  });

  it('is none where nothing costs anything', () => {
    expect(receiptOf([anOffer({})], aGroup())).toBeUndefined();
  });
});
