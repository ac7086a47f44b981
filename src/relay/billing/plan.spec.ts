import {
  type CallHead,
  type NamedModel,
  NO_TOKENS,
  type RequestDemands,
  type TokenUsage,
} from '../../protocols/contract/index.js';
import { type CatalogModel, parsePricing, type PricingDefinition } from '../../catalog/index.js';
import { AppError, parseUsd } from '../../platform/shared/index.js';
import { besideToHold, type BillingPlan, type ChargedCall, chargedBy, termsOf } from './plan.js';
import { costOfParts, costWithOutput, outputTokensFor } from './price.js';
import { headSent, requirePrices, serviceToCharge, serviceToHold, unpricedTool } from './service-tier.js';

const ONE = 1_000_000n;

const aModel = (name: string, input: string, output: string, more: Partial<PricingDefinition> = {}): CatalogModel => {
  const tiers = [{ from_prompt_tokens: 0, input, output }];
  const pricing = parsePricing({ free: false, request_fee: '0', effort_multipliers: {}, tiers, ...more });
  return {
    name,
    pricing,
    priceVersionId: `prc_${name}`,
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
  } as CatalogModel;
};

const SERVICES = { speeds: { fast: '6' }, geos: { us: '1.1', eu: '1.2' } };
const SMALL = aModel('small', '1', '5', SERVICES);
const LARGE = aModel('large', '4', '20', { speeds: { fast: '2' }, geos: { us: '1.1' } });

const demanding = (demands: Partial<RequestDemands>): CallHead => {
  const none = { models: [], hostedTools: [], addsPasses: false, scopedIds: [], unknownMembers: [] };
  return { model: 'small', demands: { ...none, ...demands } } as unknown as CallHead;
};
const aPlan = (named: readonly CatalogModel[] = [], multipliers: Readonly<Record<string, bigint>> = {}): BillingPlan =>
  ({
    model: SMALL,
    group: { name: 'saver', multiplier: ONE, modelMultipliers: new Map(Object.entries(multipliers)) },
    ...(named.length > 0 && { namedModels: new Map(named.map((model) => [model.name, model])) }),
  }) as unknown as BillingPlan;
const tokens = (input: number, output: number, more: Partial<TokenUsage> = {}): TokenUsage => ({
  ...NO_TOKENS,
  input,
  output,
  ...more,
});

const NAMES: Readonly<Record<string, readonly string[]>> = { small: ['vendor-small'], large: ['vendor-large', 'vl-2'] };
const charged = (usage: TokenUsage, plan = aPlan([LARGE]), head = demanding({})): ChargedCall =>
  chargedBy({ head }, plan, usage, (model) => NAMES[model] ?? []);
const costOf = (...args: Parameters<typeof charged>): bigint => costOfParts(charged(...args).parts);
const modelsOf = (...args: Parameters<typeof charged>): string[] => charged(...args).parts.map(({ model }) => model);

describe('a call with several efforts', () => {
  const effort_multipliers = { low: '0.5', max: '3' };
  const small = aModel('small', '1', '5', { effort_multipliers });
  const multiplierOf = (head: Partial<CallHead>, plan: BillingPlan = { ...aPlan(), model: small }): bigint => {
    const call = { head: { model: 'small', ...head } as CallHead };
    const [{ terms }] = chargedBy(call, plan, tokens(1, 1), () => []).parts;
    expect(termsOf(call, plan).effortMultiplier).toBe(terms.effortMultiplier);
    return terms.effortMultiplier;
  };

  it('is held and charged at the highest multiplier when messages change the effort', () => {
    expect(multiplierOf({ effort: 'low' })).toBe(ONE / 2n);
    expect(multiplierOf({ effort: 'low', otherEfforts: ['max'] })).toBe(3n * ONE);
    expect(multiplierOf({ effort: 'low', otherEfforts: [undefined] })).toBe(ONE);
  });

  it('is held at the effort of an alternative when it has its own', () => {
    const large = aModel('large', '4', '20', { effort_multipliers });
    const plan = { ...aPlan([large]), model: small };
    const held = (effort: string | null | undefined): bigint | undefined => {
      const named = { path: 'fallbacks[0].model', name: 'large', role: 'alternative', effort } as NamedModel;
      const head = { ...demanding({ models: [named] }), effort: 'low' };
      return termsOf({ head }, plan).alternatives?.[0]?.effortMultiplier;
    };
    expect([held(undefined), held('max'), held(null)]).toEqual([ONE / 2n, 3n * ONE, ONE]);
  });
});

describe('a call with passes', () => {
  it('charges a compaction at the price of its own model', () => {
    const passes = [{ model: undefined, usage: tokens(180_000, 3_500) }];
    // 203,000 × $1/M + 4,500 × $5/M
    expect(costOf(tokens(23_000, 1_000, { passes }))).toBe(parseUsd('0.2255'));
  });

  it('charges an advisor at the price and group multiplier of its model', () => {
    const usage = tokens(1_000, 100, { passes: [{ model: 'vendor-large', usage: tokens(2_000, 200) }] });
    // $0.001 + $0.0005, and 2,000 × $4/M + 200 × $20/M = $0.012
    expect(costOf(usage)).toBe(parseUsd('0.0135'));
    expect(costOf(usage, aPlan([LARGE], { large: ONE / 2n }))).toBe(parseUsd('0.0075'));
  });

  it('prices each pass in the tier of its own prompt', () => {
    const tiers = [
      { from_prompt_tokens: 0, input: '1', output: '0' },
      { from_prompt_tokens: 1_000, input: '2', output: '0' },
    ];
    const tiered = aModel('large', '0', '0', { tiers });
    const pass = (input: number) => ({ model: 'large', usage: tokens(input, 0) });
    // 900 × $1/M + 1,000 × $2/M
    expect(costOf(tokens(0, 0, { passes: [pass(900), pass(1_000)] }), aPlan([tiered]))).toBe(parseUsd('0.0029'));
  });

  it('charges the request fee once', () => {
    const plan = { ...aPlan(), model: aModel('small', '0', '0', { request_fee: '0.01' }) };
    expect(costOf(tokens(1, 1, { passes: [{ model: undefined, usage: tokens(1, 1) }] }), plan)).toBe(parseUsd('0.01'));
  });

  it('is rounded once over all of its passes', () => {
    // Each of the three is 0.4 nano-dollars: 1.2 together.
    const plan = { ...aPlan(), model: aModel('small', '0.0004', '0') };
    const pass = { model: undefined, usage: tokens(1, 0) };
    expect(costOf(tokens(1, 0, { passes: [pass, pass] }), plan)).toBe(1n);
    const again = { ...aPlan(), model: aModel('small', '0.0006', '0') };
    expect(costOf(tokens(1, 0, { passes: [pass, pass] }), again)).toBe(2n);
  });

  it('stores the prices of the other models in the row', () => {
    const passes = [
      { model: 'vl-2', usage: tokens(1, 0) },
      { model: undefined, usage: tokens(1, 0) },
    ];
    const snapshot = JSON.parse(charged(tokens(1, 1, { passes })).snapshot) as { models: object };
    expect(snapshot).toMatchObject({ price_version: 'prc_small', models: { large: { price_version: 'prc_large' } } });
    expect(Object.keys(snapshot.models)).toEqual(['large']);
  });
});

describe('the charged model', () => {
  it('is the serving one, by any of its names', () => {
    for (const servedBy of ['large', 'vendor-large', 'vl-2', 'vendor-large-20261101', 'vendor-large-2026-11-01'])
      expect(modelsOf(tokens(1, 1, { servedBy }))).toEqual(['large']);
    for (const servedBy of ['small', 'vendor-small', 'vendor-small@20261101'])
      expect(modelsOf(tokens(1, 1, { servedBy }))).toEqual(['small']);
    expect(JSON.parse(charged(tokens(1, 1, { servedBy: 'large' })).snapshot)).toMatchObject({ served_by: 'large' });
  });

  it('is the most expensive planned one when the upstream reports an unknown name', () => {
    expect(modelsOf(tokens(1, 1, { servedBy: 'large-mini' }))).toEqual(['large']);
    expect(modelsOf(tokens(1, 1, { passes: [{ model: 'other', usage: tokens(5, 5) }] }))).toEqual(['small', 'large']);
    expect(modelsOf(tokens(1, 1, { servedBy: 'other' }), aPlan())).toEqual(['small']);
    // The group makes the large one the cheaper of the two.
    expect(modelsOf(tokens(1, 1, { servedBy: 'other' }), aPlan([LARGE], { large: 1n }))).toEqual(['small']);
  });

  it('is the requested one when the upstream reports none', () => {
    expect(modelsOf(tokens(1, 1))).toEqual(['small']);
  });
});

describe('speed and region', () => {
  const speedOf = (requested: string | undefined, reported: string | undefined): bigint => {
    const usage = tokens(1, 1, reported === undefined ? {} : { speed: reported });
    return serviceToCharge(demanding({ speed: requested }), usage, SMALL.pricing).speed.multiplier / ONE;
  };
  const geoOf = (requested: string | undefined, reported: string | undefined): string => {
    const usage = tokens(1, 1, reported === undefined ? {} : { geo: reported });
    return serviceToCharge(demanding({ geo: requested }), usage, SMALL.pricing).geo.name;
  };

  it('charge the reported speed, else the requested one, and never more than requested', () => {
    expect([speedOf('fast', 'fast'), speedOf('fast', undefined), speedOf('fast', 'standard')]).toEqual([6n, 6n, 1n]);
    expect([speedOf(undefined, 'fast'), speedOf('standard', 'fast')]).toEqual([1n, 1n]);
  });

  it('charge the reported region, never more than requested unless none was requested', () => {
    expect([geoOf('us', 'us'), geoOf('us', undefined), geoOf('us', 'global'), geoOf('us', 'eu')]).toEqual([
      'us',
      'us',
      '',
      'us',
    ]);
    expect([geoOf('global', 'us'), geoOf(undefined, 'us'), geoOf(undefined, undefined)]).toEqual(['', 'us', '']);
    expect(geoOf('us', 'not_available')).toBe('');
  });

  it('are held as requested, or at the most expensive when the upstream chooses', () => {
    const held = (demands: Partial<RequestDemands>): string[] => {
      const { speed, geo } = serviceToHold(demanding(demands), SMALL.pricing);
      return [speed.name, geo.name];
    };
    expect(held({ speed: 'fast', geo: 'us' })).toEqual(['fast', 'us']);
    expect(held({})).toEqual(['', 'eu']);
    expect(held({ geo: 'global' })).toEqual(['', '']);
  });

  it('are not charged when the request was translated, which carries neither', () => {
    const call = { head: demanding({ speed: 'fast', geo: 'us' }), protocol: 'messages' };
    const speedIn = (upstream: string): string =>
      serviceToCharge(headSent(call, { protocol: upstream }), tokens(1, 1), SMALL.pricing).speed.name;
    expect([speedIn('messages'), speedIn('responses')]).toEqual(['fast', '']);
  });

  it('multiply everything, each pass by the price of its own model', () => {
    const usage = tokens(1_000, 0, { speed: 'fast', geo: 'us', passes: [{ model: 'large', usage: tokens(1_000, 0) }] });
    // $0.001 × 6 × 1.1 + $0.004 × 2 × 1.1
    expect(costOf(usage, aPlan([LARGE]), demanding({ speed: 'fast', geo: 'us' }))).toBe(parseUsd('0.0154'));
  });
});

describe('tokens with their own prices', () => {
  it('charge writes to a cache of 12 hours', () => {
    const tiers = [{ from_prompt_tokens: 0, input: '1', output: '0', cache_write_1h: '2', cache_write_12h: '3' }];
    const plan = { ...aPlan(), model: aModel('small', '0', '0', { tiers }) };
    // 400 × $1 + 200 × $2 + 400 × $3
    expect(costOf(tokens(1_000, 0, { cacheWrite1h: 200, cacheWrite12h: 400 }), plan)).toBe(parseUsd('0.002'));
  });

  it('charge generated images beside the totals', () => {
    const image_generation = { text_input: '5', image_input: '8', image_output: '30' };
    const plan = { ...aPlan(), model: aModel('small', '1', '5', { image_generation }) };
    const imageGeneration = { textInput: 100, imageInput: 200, textOutput: 10, imageOutput: 1_000 };
    // 1,000 × $1 + 100 × $5 + 200 × $8 + 1,010 × $30
    expect(costOf(tokens(1_000, 0, { imageGeneration }), plan)).toBe(parseUsd('0.0334'));
  });
});

describe('the held upper bound', () => {
  const named = (role: 'alternative' | 'helper') =>
    demanding({
      models: [{ name: 'large', role, path: 'fallbacks.0.model', field: { start: 0, end: 0, kind: 'string' } }],
    });

  it('covers the most expensive model that may serve the call', () => {
    const terms = termsOf({ head: named('alternative') }, aPlan([LARGE]));
    // The dearest region: × 1.1. 1,000 × $4/M + 100 × $20/M = $0.006
    expect(costWithOutput(terms, tokens(1_000, 0))(100)).toBe(parseUsd('0.0066'));
    // $0.011 / 1.1 − $0.004 buys 300 tokens at $20/M
    expect(outputTokensFor(terms, tokens(1_000, 0), parseUsd('0.011'))).toBe(300);
  });

  it('is that of the model itself when the others are helpers', () => {
    const terms = termsOf({ head: named('helper') }, aPlan([LARGE]));
    // × 1.2: 1,000 × $1/M + 100 × $5/M = $0.0015
    expect(costWithOutput(terms, tokens(1_000, 0))(100)).toBe(parseUsd('0.0018'));
  });
});

describe('the hold besides output', () => {
  const tool = (name: string, maxUses?: number) => ({ name, path: 'tools.0', maxUses });
  const size = { bytes: 2_000, encodedBytes: 0, images: 0 };
  /** 1,000 tokens of prompt. */
  const held = (demands: Partial<RequestDemands>, model = SMALL, more: Partial<CallHead> = {}) => {
    const plan = { ...aPlan([LARGE]), model };
    const head = { ...demanding(demands), size, cacheLifetime: 'none', ...more } as CallHead;
    return besideToHold({ head }, plan, termsOf({ head }, plan));
  };
  const reserve = (...args: Parameters<typeof held>): bigint => held(...args).reserve;
  const plainModel = (more: Partial<PricingDefinition> = {}): CatalogModel => aModel('small', '1', '5', more);

  it('is only the prompt when the call demands nothing', () => {
    expect(reserve({})).toBe(0n);
  });

  it('adds the prompt and the max output once more for a compaction', () => {
    // 1,000 × $1/M + 64,000 × $5/M
    expect(reserve({ addsPasses: true }, plainModel())).toBe(parseUsd('0.321'));
  });

  it('covers every use of an advisor at the price of its model', () => {
    const advisor = { name: 'large', role: 'helper', path: 'tools.0.model' } as const;
    const named = (more: object) => ({ addsPasses: true, models: [{ ...advisor, ...more } as never] });
    // In the dearest region, × 1.1: 2 × (1,000 × $4/M + 500 × $20/M)
    expect(reserve(named({ maxUses: 2, outputLimit: 500 }))).toBe(parseUsd('0.0308'));
    // 10 × (1,000 × $4/M + 64,000 × $20/M)
    expect(reserve(named({}))).toBe(parseUsd('14.124'));
  });

  it('covers the fee of every tool use, the most expensive first when there is a common limit', () => {
    const model = plainModel({
      tool_fees: { web_search: '0.01', file_search: '0.002' },
      tool_max_uses: { web_search: 3 },
    });
    const hostedTools = [tool('file_search', 4), tool('web_search', 3)];
    expect(reserve({ hostedTools }, model)).toBe(parseUsd('0.038'));
    expect(reserve({ hostedTools, maxToolCalls: 4 }, model)).toBe(parseUsd('0.032'));
    expect(reserve({ hostedTools: [tool('web_search')] }, model)).toBe(parseUsd('0.03'));
  });

  it('covers every generated image at its most expensive token prices', () => {
    const image_generation = { text_input: '5', image_input: '8', image_output: '30' };
    const model = plainModel({ image_generation, tool_max_uses: { image_generation: 2 } });
    // 2 × (1,000 × $8/M + 16,384 × $30/M)
    expect(reserve({ hostedTools: [tool('image_generation')] }, model)).toBe(parseUsd('0.99904'));
  });

  it('uses the most expensive class the prompt may be charged as', () => {
    const tiers = [
      {
        from_prompt_tokens: 0,
        input: '1',
        output: '5',
        cache_write_5m: '2',
        cache_write_1h: '3',
        cache_write_12h: '4',
      },
    ];
    const model = plainModel({ tiers });
    const open = { cacheLifetime: undefined } as Partial<CallHead>;
    const marked = { ...open, size: { ...size, cacheLifetime: '1h' as const } };
    expect(held({}, model).prompt).toMatchObject({ input: 1_000, cacheWrite: 0, cacheWrite1h: 0 });
    expect(held({}, model, open).prompt).toMatchObject({ input: 1_000, cacheWrite: 1_000 });
    expect(held({}, model, marked).prompt).toMatchObject({ input: 1_000, cacheWrite1h: 1_000 });
    expect(held({}, model, { cacheLifetime: '1h' }).prompt).toEqual(held({}, model, marked).prompt);
    expect(held({ cacheLifetime: '12h' }, model, open).prompt).toMatchObject({ input: 1_000, cacheWrite12h: 1_000 });
  });
});

describe('an option without a price', () => {
  const refusal = (head: CallHead, ...models: readonly CatalogModel[]): AppError | undefined => {
    try {
      requirePrices(head, models);
      return unpricedTool(head, models);
    } catch (error) {
      return error as AppError;
    }
  };
  const tool = (name: string, path = 'tools.0'): Partial<RequestDemands> => ({ hostedTools: [{ name, path }] });

  it('is rejected by name when it is a speed or region', () => {
    expect(refusal(demanding({ speed: 'fast', geo: 'us' }), SMALL, LARGE)).toBeUndefined();
    expect(refusal(demanding({ speed: 'standard', geo: 'global' }), aModel('plain', '1', '1'))).toBeUndefined();
    expect(refusal(demanding({ speed: 'turbo' }), SMALL)).toMatchObject({
      kind: 'invalid_request',
      message: 'speed: the model "small" is not offered at speed "turbo". Use one of standard, fast, or omit it.',
      details: { param: 'speed', fault: 'invalid_value' },
    });
    expect(refusal(demanding({ geo: 'eu' }), SMALL, LARGE)?.message).toBe(
      'inference_geo: the model "large" is not offered in region "eu". Use one of global, us, or omit it.',
    );
  });

  it('is rejected with the path of the tool when it is a hosted tool', () => {
    const free = aModel('small', '1', '1', { tool_fees: { web_search: '0' } });
    expect(refusal(demanding(tool('web_search')), free)).toBeUndefined();
    expect(refusal(demanding(tool('file_search', 'tools.3')), free)).toMatchObject({
      message: 'tools.3: the model "small" is not offered with the tool "file_search". Remove the tool.',
      details: { param: 'tools.3' },
    });
    expect(refusal(demanding(tool('web_search')), free, LARGE)?.message).toContain('"large"');
  });

  it('is allowed for a model that is only a helper', () => {
    const helper = {
      name: 'large',
      role: 'helper',
      path: 'tools.1.model',
      field: { start: 0, end: 0, kind: 'string' },
    } as const;
    const free = aModel('small', '1', '1', { tool_fees: { web_search: '0' } });
    expect(refusal(demanding({ ...tool('web_search'), models: [helper] }), free, LARGE)).toBeUndefined();
    expect(
      refusal(demanding({ ...tool('web_search'), models: [helper, { ...helper, role: 'alternative' }] }), free, LARGE),
    ).toBeDefined();
  });

  it('is the image tool, unless its uses or tokens are priced', () => {
    const demands = demanding(tool('image_generation'));
    expect(refusal(demands, SMALL)).toBeDefined();
    expect(refusal(demands, aModel('m', '1', '1', { tool_fees: { image_generation: '0' } }))).toBeUndefined();
    const image_generation = { text_input: '5', image_output: '30' };
    expect(refusal(demands, aModel('m', '1', '1', { image_generation }))).toBeUndefined();
  });
});
