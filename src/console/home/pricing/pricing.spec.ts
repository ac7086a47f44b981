import { aGroup, anOffer, PROTOCOLS } from '../../../../test/support/offers.js';
import { type CatalogModel, parsePricing, type PricingDefinition } from '../../../catalog/index.js';
import { formatUsd, parseUsd } from '../../../platform/shared/index.js';
import { modelView } from './model.view.js';
import {
  modelAddress,
  type PriceQuery,
  priceQuery,
  priceRows,
  pricingView,
  scaled,
  scaledPrice,
} from './pricing.view.js';

const priced = (tiers: PricingDefinition['tiers'], more: Partial<PricingDefinition> = {}) =>
  parsePricing({ free: false, request_fee: '0', effort_multipliers: {}, tiers, ...more });

const flat = (input: string, output = '1') => priced([{ from_prompt_tokens: 0, input, output }]);

const OFFERS = [
  anOffer({ name: 'zeta', ownedBy: 'acme', contextWindow: 1000, pricing: flat('10', '2') }),
  anOffer(
    { name: 'beta', ownedBy: 'acme', contextWindow: 3000, pricing: flat('9', '4'), capabilities: { vision: true } },
    ['messages'],
  ),
  anOffer({ name: 'alpha', displayName: 'The First', ownedBy: 'zoo', contextWindow: 2000, pricing: flat('11', '3') }),
];

const query = (parts: Record<string, unknown> = {}): PriceQuery => priceQuery(parts);
const names = (parts: Record<string, unknown>, group = aGroup()): string[] =>
  priceRows(OFFERS, group, query(parts), PROTOCOLS).map(({ name }) => name);

describe('the price list', () => {
  it.each([
    [{}, ['beta', 'zeta', 'alpha']],
    [{ sort: 'provider' }, ['beta', 'zeta', 'alpha']],
    [{ sort: 'input' }, ['beta', 'zeta', 'alpha']],
    [{ sort: 'output' }, ['zeta', 'alpha', 'beta']],
    [{ sort: 'context' }, ['beta', 'alpha', 'zeta']],
    [{ sort: 'nonsense' }, ['beta', 'zeta', 'alpha']],
  ])('queried with %j is %j', (parts, expected) => {
    expect(names(parts)).toEqual(expected);
  });

  it('sorts by prices after the group multiplier', () => {
    const group = aGroup({ modelMultipliers: new Map([['beta', 2_000_000n]]) });
    expect(names({ sort: 'input' }, group)).toEqual(['zeta', 'alpha', 'beta']);
  });

  it.each([
    [{ q: 'ET' }, ['beta', 'zeta']],
    [{ q: ' first ' }, ['alpha']],
    [{ q: 'zoo' }, ['alpha']],
    [{ q: '%' }, []],
    [{ endpoint: 'responses' }, ['zeta', 'alpha']],
    [{ endpoint: 'responses', q: 'beta' }, []],
    [{ capability: 'vision' }, ['beta']],
    [{ capability: 'audio' }, []],
    [{ capability: 'nonsense' }, ['beta', 'zeta', 'alpha']],
    [{ q: ['a', 'b'] }, ['beta', 'zeta', 'alpha']],
  ])('narrowed by %j is %j', (parts, expected) => {
    expect(names(parts)).toEqual(expected);
  });

  it('shows exact prices of all tiers after the multiplier', () => {
    const pricing = priced([
      { from_prompt_tokens: 0, input: '0.28', cache_read: '0.028', output: '0.42' },
      { from_prompt_tokens: 60_000, input: '0.56', output: '1' },
    ]);
    const [row] = priceRows([anOffer({ pricing })], aGroup({ multiplier: 800_000n }), query(), PROTOCOLS);
    expect(row?.tiers).toEqual([
      { from: 0, input: '$0.224', cached: '$0.0224', output: '$0.336' },
      { from: 60_000, input: '$0.448', cached: '$0.448', output: '$0.80' },
    ]);
  });

  it('shows the fee per call, and marks free models', () => {
    const fee = priced([{ from_prompt_tokens: 0, input: '0', output: '0' }], { request_fee: '0.02' });
    const rows = priceRows(
      [anOffer({ name: 'a', pricing: fee }), anOffer({ name: 'b' })],
      aGroup(),
      query(),
      PROTOCOLS,
    );
    expect(rows.map(({ free, fee: each }) => [free, each])).toEqual([
      [false, '$0.02'],
      [true, undefined],
    ]);
  });

  it('lists all endpoints of a model and marks translated ones', () => {
    const [row] = priceRows([anOffer({}, ['messages'])], aGroup(), query(), PROTOCOLS);
    expect(row?.endpoints.map(({ id, translated }) => [id, translated])).toEqual([
      ['messages', false],
      ['responses', true],
      ['chat-completions', true],
    ]);
  });

  it('lists only native endpoints when the channels do not translate', () => {
    const [row] = priceRows([anOffer({}, ['messages'], false)], aGroup(), query(), PROTOCOLS);
    expect(row?.endpoints.map(({ id }) => id)).toEqual(['messages']);
  });

  it('explains translation when a listed endpoint is translated', () => {
    const group = aGroup();
    const explains = (protocols: string[]): boolean =>
      pricingView({ groups: [group], group, models: [anOffer({}, protocols)], protocols: PROTOCOLS }, query())
        .hasTranslated;
    expect([explains(['messages']), explains(['messages', 'responses', 'chat-completions'])]).toEqual([true, false]);
  });

  it('offers the capabilities that models of the group have, and the selected one', () => {
    const group = aGroup();
    const view = pricingView(
      { groups: [group], group, models: OFFERS, protocols: PROTOCOLS },
      query({ capability: 'audio' }),
    );
    expect(view.capabilities).toEqual([
      { value: '', label: 'Any capability', selected: false },
      { value: 'vision', label: 'Image input', selected: false },
      { value: 'audio', label: 'Audio input', selected: true },
    ]);
    expect([view.rows, view.isNarrowed]).toEqual([[], true]);
  });

  it('shows the date of the latest price change', () => {
    const models = [anOffer({ pricesSince: 1000 }), anOffer({ pricesSince: 3000 }), anOffer({ pricesSince: 2000 })];
    const group = aGroup();
    expect(pricingView({ groups: [group], group, models, protocols: PROTOCOLS }, query()).since).toEqual(
      new Date(3000),
    );
  });

  it('marks the selected options and links to the unfiltered group', () => {
    const groups = [aGroup(), aGroup({ name: 'a&b', multiplier: 1_250_000n })];
    const list = { groups, group: groups[1]!, models: OFFERS, protocols: PROTOCOLS };
    const view = pricingView(list, query({ endpoint: 'messages', sort: 'context', q: 'x' }));
    const chosen = [view.endpoints, view.groups, view.sorts].map((options) =>
      options.filter(({ selected }) => selected).map(({ label }) => label),
    );
    expect(chosen).toEqual([['Messages, not translated'], ['a&b, × 1.25'], ['Context']]);
    expect(view).toMatchObject({ isNarrowed: true, search: 'x', clear: { href: '/pricing?group=a%26b' } });
  });
});

describe('the model page', () => {
  const cheap = aGroup({ name: 'saver', multiplier: 800_000n, modelMultipliers: new Map([['v/m', 500_000n]]) });
  const pricing = priced(
    [
      { from_prompt_tokens: 0, input: '2', cache_write_5m: '2.5', output: '10', audio_output: '20' },
      { from_prompt_tokens: 1000, input: '4', output: '15' },
    ],
    {
      request_fee: '0.02',
      effort_multipliers: { high: '1.25' },
      service_tiers: { priority: '2' },
      tool_fees: { web_search: '0.01' },
    },
  );
  const offered = anOffer({ name: 'v/m', pricing, capabilities: { vision: true, audio: false, stopMax: 4 } }, [
    'messages',
  ]);
  const view = modelView({
    groups: [aGroup(), cheap].map((group) => ({ group, offered })),
    shown: 'saver',
    protocols: PROTOCOLS,
    base: 'https://relay.example',
    upcoming: [{ at: 5000, model: { ...offered.model, pricing: flat('6') } }],
  });

  it('shows the prices of the group by prompt length', () => {
    expect(view.prices.columns).toEqual([
      { from: 0, to: 999 },
      { from: 1000, to: undefined },
    ]);
    expect(Object.fromEntries(view.prices.rows.map(({ label, cells }) => [label, cells]))).toEqual({
      Input: ['$1.00', '$2.00'],
      'Input read from cache': ['$1.00', '$2.00'],
      'Input written to cache, 5 minutes': ['$1.25', '$2.00'],
      'Input written to cache, 1 hour': ['$1.25', '$2.00'],
      'Input written to cache, 12 hours': ['$1.25', '$2.00'],
      'Image input': ['$1.00', '$2.00'],
      Output: ['$5.00', '$7.50'],
      'Audio output': ['$10.00', '$7.50'],
    });
  });

  it('lists no prices for what the model cannot do', () => {
    const labels = (capabilities: CatalogModel['capabilities']): string[] =>
      modelView({
        groups: [{ group: cheap, offered: anOffer({ pricing: flat('2'), capabilities }, ['messages']) }],
        shown: 'saver',
        protocols: PROTOCOLS,
        base: '',
        upcoming: [],
      }).prices.rows.map(({ label }) => label);
    expect(labels({})).toEqual(['Input', 'Input read from cache', 'Output']);
    expect(labels({ audio: true, reasoning: true })).toEqual([
      'Input',
      'Input read from cache',
      'Audio input',
      'Output',
      'Reasoning',
      'Audio output',
    ]);
  });

  it('shows fees after the multiplier, and other multipliers', () => {
    expect(view.extras).toEqual([
      { label: 'Fee per call', value: '$0.01' },
      { label: 'Per use of web_search', value: '$0.005' },
      { label: 'Effort “high”', value: '× 1.25' },
      { label: 'Service tier “priority”', value: '× 2.00' },
    ]);
  });

  it('lists the groups with their multipliers for the model', () => {
    expect(view.groups.map(({ name, multiplier, input, isShown }) => [name, multiplier, input, isShown])).toEqual([
      ['default', '× 1.00', '$2.00', false],
      ['saver', '× 0.50', '$1.00', true],
    ]);
  });

  it('shows scheduled prices, capabilities, and a sample call for each endpoint', () => {
    expect(view.upcoming.map(({ at, text }) => [at.getTime(), text])).toEqual([[5000, 'input $3.00, output $0.50.']]);
    expect(view.capabilities).toEqual(['stopMax: 4', 'vision']);
    expect(view.samples.map(({ name, isOpen, code }) => [name, isOpen, code.map(({ text }) => text).join('')])).toEqual(
      [
        ['Messages', true, expect.stringMatching(/^curl https:\/\/relay\.example\/v1\/messages [^]*"model": "v\/m"/)],
        ['Responses', false, expect.stringContaining('/v1/responses ')],
        ['Chat Completions', false, expect.stringContaining('/v1/chat/completions ')],
      ],
    );
  });

  it('escapes the model name in its URL', () => {
    expect(modelAddress('v/m?x#y%', 'a b')).toBe('/pricing/v/m%3Fx%23y%25?group=a%20b');
  });
});

const scaledText = (price: string, multiplier: bigint): string => scaledPrice(scaled(parseUsd(price), multiplier));

describe('scaledPrice', () => {
  it.each([
    ['2.5', 800_000n, '$2.00'],
    ['0.28', 800_000n, '$0.224'],
    ['0.028', 800_000n, '$0.0224'],
    ['15', 1_000_000n, '$15.00'],
    ['0', 800_000n, '$0.00'],
    ['1234.5', 1_000_000n, '$1,234.50'],
    // 0.1 × 0.7 is 0.06999999999999999 in floating point.
    ['0.1', 700_000n, '$0.07'],
  ])('shows $%s × %s millionths as %s', (price, multiplier, text) => {
    expect(scaledText(price, multiplier)).toBe(text);
  });

  it('keeps all digits', () => {
    expect(scaledText('0.000000001', 1n)).toBe('$0.000000000000001');
    expect(scaledText('999999999.999999999', 999_999n)).toBe('$999,998,999.999999999000001');
  });

  it('returns the price itself when the multiplier is one', () => {
    const price = parseUsd('1.234567891');
    expect(scaledPrice(scaled(price, 1_000_000n))).toBe(`$${formatUsd(price)}`);
  });
});
