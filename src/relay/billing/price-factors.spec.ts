import { type CatalogModel, parsePricing, type PricingDefinition } from '../../catalog/index.js';
import { AppError, parseUsd } from '../../platform/shared/index.js';
import { type CallHead, NO_TOKENS, type TokenUsage } from '../../protocols/contract/index.js';
import { ConversationTokenCache } from './billing.service.js';
import { promptToHold } from './hold.js';
import { costOf, costItems, outputTokensFor, type PriceTerms } from './price.js';
import { requirePrices, serviceToCharge, serviceToHold } from './service-tier.js';

const ONE = 1_000_000n;

const pricingOf = (overrides: Partial<PricingDefinition> = {}): PriceTerms['pricing'] =>
  parsePricing({
    free: false,
    request_fee: '0',
    effort_multipliers: {},
    tiers: [{ from_prompt_tokens: 0, input: '2', output: '10' }],
    ...overrides,
  });
const terms = (overrides: Partial<PricingDefinition> = {}, multipliers: Partial<PriceTerms> = {}): PriceTerms => ({
  pricing: pricingOf(overrides),
  serviceMultiplier: ONE,
  effortMultiplier: ONE,
  groupMultiplier: ONE,
  ...multipliers,
});
const usage = (overrides: Partial<TokenUsage>): TokenUsage => ({ ...NO_TOKENS, ...overrides });

/** Images at $3, sounds at $8 in and $30 out; text at $2 and $10, cached $0.20. */
const media: Partial<PricingDefinition> = {
  tiers: [
    {
      from_prompt_tokens: 0,
      input: '2',
      cache_read: '0.2',
      output: '10',
      image_input: '3',
      audio_input: '8',
      audio_output: '30',
    },
  ],
};

const quantities = (used: TokenUsage, overrides: Partial<PricingDefinition> = media): Record<string, number> =>
  Object.fromEntries(costItems(pricingOf(overrides), used).map(({ item, quantity }) => [item, quantity]));

describe('prices of images and audio', () => {
  it('use their own prices and count no token twice', () => {
    const used = usage({
      input: 1000,
      cacheRead: 100,
      imageInput: 200,
      audioInput: 50,
      output: 40,
      reasoning: 10,
      audioOutput: 20,
    });
    expect(quantities(used)).toEqual({
      input: 650,
      cache_read: 100,
      image_input: 200,
      audio_input: 50,
      output: 10,
      reasoning: 10,
      audio_output: 20,
    });
    // 650 × $2 + 100 × $0.2 + 200 × $3 + 50 × $8 + 10 × $10 + 10 × $10 + 20 × $30 = 1300 + 20 + 600 + 400 + 800 = $3,120/M
    expect(costOf(terms(media), used)).toBe(parseUsd('0.00312'));
  });

  it('apply to the uncached prompt when reported counts overlap', () => {
    const used = usage({
      input: 1000,
      cacheRead: 800,
      imageInput: 150,
      audioInput: 500,
      output: 30,
      reasoning: 20,
      audioOutput: 25,
    });
    expect(quantities(used)).toEqual({
      cache_read: 800,
      image_input: 150,
      audio_input: 50,
      reasoning: 20,
      audio_output: 10,
    });
  });

  it('fall back to text prices when the model has none', () => {
    expect(costOf(terms(), usage({ input: 1000, imageInput: 400, audioInput: 100 }))).toBe(parseUsd('0.002'));
  });
});

describe('prices of tools', () => {
  const fees = { tool_fees: { web_search: '0.01', file_search: '0.0025' }, request_fee: '0.001' };

  it('charge a fee per use as a separate cost line with all multipliers', () => {
    const used = usage({ input: 1000, toolUses: { web_search: 3, file_search: 1, mcp: 2 } });
    expect(costItems(pricingOf(fees), used)).toEqual([
      { item: 'input', quantity: 1000, price: parseUsd('2'), isFee: false },
      { item: 'tool:web_search', quantity: 3, price: parseUsd('0.01'), isFee: true },
      { item: 'tool:file_search', quantity: 1, price: parseUsd('0.0025'), isFee: true },
      { item: 'tool:mcp', quantity: 2, price: 0n, isFee: true },
      { item: 'request_fee', quantity: 1, price: parseUsd('0.001'), isFee: true },
    ]);
    // $0.002 + 3 × $0.01 + $0.0025 + $0.001 = $0.0355; × 2 × 1.5 × 0.8 = $0.0852
    const multipliers = { serviceMultiplier: 2n * ONE, effortMultiplier: 1_500_000n, groupMultiplier: 800_000n };
    expect(costOf(terms(fees, multipliers), used)).toBe(parseUsd('0.0852'));
  });

  it('are charged for a model with free tokens, which then is not free', () => {
    const free = { free: true, tiers: [], tool_fees: { web_search: '0.01' } };
    expect(pricingOf(free).costsNothing).toBe(false);
    expect(costOf(terms(free), usage({ input: 1000, toolUses: { web_search: 1 } }))).toBe(parseUsd('0.01'));
  });
});

describe('price multipliers', () => {
  it('multiply exactly and round once, half up', () => {
    // 1 × $0.003/M is 3 nanos per million… of a token: 0.003 nano × 0.000001 × 0.000001 … is something, so 1 nano.
    const least = { serviceMultiplier: 1n, effortMultiplier: 1n, groupMultiplier: 1n };
    expect(costOf(terms({}, least), usage({ input: 1 }))).toBe(1n);
    // 1 token at $2/M is 2,000 nanos × 0.25 × 0.005 × 1.000001 = 2.5000025 → 3; × 1 = 2.5 → 3; × 0.999999 = 2.4999975 → 2
    const factors = (groupMultiplier: bigint): Partial<PriceTerms> => ({
      serviceMultiplier: 250_000n,
      effortMultiplier: 5_000n,
      groupMultiplier,
    });
    const costs = [1_000_001n, ONE, 999_999n].map((group) => costOf(terms({}, factors(group)), usage({ input: 1 })));
    expect(costs).toEqual([3n, 3n, 2n]);
  });

  it('apply to the output a budget buys', () => {
    // $0.03 / 2 = $0.015 at the usual tier: less 1,000 × $2/M = $0.013, at $10/M 1,300 tokens
    const fast = terms({}, { serviceMultiplier: 2n * ONE });
    expect(outputTokensFor(fast, usage({ input: 1000 }), parseUsd('0.03'))).toBe(1300);
  });
});

describe('the service tier', () => {
  const tiered = pricingOf({ service_tiers: { priority: '2', flex: '0.5' } });
  const head = (serviceTier: string | undefined): CallHead => ({ serviceTier }) as CallHead;
  const answered = (serviceTier: string | undefined): TokenUsage =>
    usage(serviceTier === undefined ? {} : { serviceTier });
  const charged = (requested: string | undefined, given: string | undefined): string =>
    serviceToCharge(head(requested), answered(given), tiered).tier.name;

  it('is accepted when it is a default tier or priced by the model', () => {
    const model = { name: 'm', pricing: tiered } as CatalogModel;
    for (const tier of [undefined, 'auto', 'default', 'standard', 'standard_only', 'priority', 'flex'])
      expect(() => requirePrices(head(tier), [model])).not.toThrow();
    for (const tier of ['scale', 'Priority', '', 'constructor']) {
      const refuse = (): void => requirePrices(head(tier), [model]);
      expect(refuse).toThrow(AppError);
      expect(refuse).toThrow(/^service_tier: the model "m" is not offered in service tier .* priority, flex/);
    }
  });

  it('is held at the requested tier, or the most expensive one when the upstream chooses', () => {
    const held = (tier: string | undefined): bigint => serviceToHold(head(tier), tiered).tier.multiplier;
    expect([held('priority'), held('flex'), held('default'), held('standard_only')]).toEqual([
      2n * ONE,
      ONE / 2n,
      ONE,
      ONE,
    ]);
    expect([held('auto'), held(undefined)]).toEqual([2n * ONE, 2n * ONE]);
    expect(serviceToHold(head('auto'), pricingOf({ service_tiers: { flex: '0.5' } })).tier.multiplier).toBe(ONE);
  });

  it('is charged as reported, or as requested when the response reports none', () => {
    expect([charged('auto', 'priority'), charged(undefined, 'priority'), charged('auto', 'flex')]).toEqual([
      'priority',
      'priority',
      'flex',
    ]);
    expect([charged('auto', 'default'), charged('auto', undefined), charged('auto', 'something-new')]).toEqual([
      '',
      '',
      '',
    ]);
    expect([charged('priority', undefined), charged('priority', 'priority')]).toEqual(['priority', 'priority']);
  });

  it('is never charged above the requested tier', () => {
    expect(charged('priority', 'default')).toBe('');
    expect(charged('flex', 'priority')).toBe('flex');
    expect(charged('flex', 'default')).toBe('flex');
    expect(charged('default', 'priority')).toBe('');
  });
});

describe('the held prompt', () => {
  const model = { contextWindow: 200_000, maxOutputTokens: 1000 } as CatalogModel;
  const head = (outside: CallHead['outside']): CallHead =>
    ({ size: { bytes: 2000, encodedBytes: 0, images: 0 }, outside, outputLimit: 0, choices: 1 }) as unknown as CallHead;

  it('is the body, or the context window when content of unknown size is referenced', () => {
    expect(promptToHold(head(undefined), model, undefined)).toBe(1000);
    expect(promptToHold(head({ previousResponseId: undefined }), model, undefined)).toBe(200_000);
    expect(promptToHold(head({ previousResponseId: 'resp_1' }), model, undefined)).toBe(200_000);
  });

  it('is the body plus the continued conversation when its size is known', () => {
    expect(promptToHold(head({ previousResponseId: 'resp_1' }), model, 5000)).toBe(6000);
    expect(promptToHold(head({ previousResponseId: 'resp_1' }), model, 199_500)).toBe(200_000);
  });
});

describe('ConversationTokenCache', () => {
  it('finds the tokens of a conversation by account and response ID', () => {
    const known = new ConversationTokenCache();
    known.note('acc_1', usage({ input: 900, output: 100, responseId: 'resp_1' }));
    known.note('acc_1', usage({ input: 900, output: 100 }));
    expect(known.tokensOf('acc_1', 'resp_1')).toBe(1000);
    expect(known.tokensOf('acc_2', 'resp_1')).toBeUndefined();
    expect(known.tokensOf('acc_1', undefined)).toBeUndefined();
  });

  it('drops the oldest response beyond 10,000', () => {
    const known = new ConversationTokenCache();
    for (let index = 0; index <= 10_000; index += 1)
      known.note('acc_1', usage({ input: index, responseId: `resp_${index}` }));
    expect(known.tokensOf('acc_1', 'resp_0')).toBeUndefined();
    expect(known.tokensOf('acc_1', 'resp_1')).toBe(1);
    expect(known.tokensOf('acc_1', 'resp_10000')).toBe(10_000);
  });
});
