import type { UpstreamCost } from '../../catalog/channels/index.js';
import { parsePricing, type PricingDefinition } from '../../catalog/index.js';
import {
  type CallHead,
  NO_TOKENS,
  type RequestDemands,
  type TokenUsage,
  type UsagePass,
} from '../../protocols/contract/index.js';
import { AttemptLog } from './attempt-log.js';
import { costedAttempts, type CostedPart, upstreamCost } from './charge.js';
import type { BillingPlan } from './plan.js';
import { costItems } from './price.js';

const pricing = (overrides: Partial<PricingDefinition>) =>
  parsePricing({ free: false, request_fee: '0', effort_multipliers: {}, tiers: [], ...overrides });

/** The model's own list price: $2 and $10, cached $0.20, and $4 and $20 from 1000 prompt tokens on. */
const LIST = pricing({
  effort_multipliers: { high: '3' },
  service_tiers: { priority: '2' },
  speeds: { fast: '6' },
  geos: { us: '1.1' },
  tiers: [
    { from_prompt_tokens: 0, input: '2', cache_read: '0.2', output: '10' },
    { from_prompt_tokens: 1000, input: '4', output: '20' },
  ],
});
const prices = (overrides: Partial<PricingDefinition>): UpstreamCost => ({
  version: 'cst_1',
  pricing: pricing(overrides),
});
const share = (millionths: bigint): UpstreamCost => ({ version: 'cst_1', share: millionths });

const HEAD = { model: 'm', stream: false, choices: 1 } as CallHead;
const part = (cost: UpstreamCost, usage: Partial<TokenUsage>): CostedPart => ({
  cost,
  pricing: LIST,
  items: (charged) => costItems(charged, { ...NO_TOKENS, ...usage }),
});
const costOf = (cost: UpstreamCost, usage: Partial<TokenUsage>, head: Partial<CallHead> = {}): bigint =>
  upstreamCost([part(cost, usage)], { ...HEAD, ...head }, { ...NO_TOKENS, ...usage });

describe('upstreamCost', () => {
  it('uses the upstream’s price of each token class', () => {
    const own = prices({
      tiers: [
        { from_prompt_tokens: 0, input: '1', cache_read: '0.1', cache_write_5m: '1.5', output: '8', reasoning: '9' },
      ],
    });
    // 60 × $1 + 30 × $0.10 + 10 × $1.50 + 5 × $8 + 2 × $9, per million.
    expect(costOf(own, { input: 100, cacheRead: 30, cacheWrite: 10, output: 7, reasoning: 2 })).toBe(136_000n);
  });

  it('uses the tier of the whole prompt, including cached tokens', () => {
    const own = prices({
      tiers: [
        { from_prompt_tokens: 0, input: '1', output: '1' },
        { from_prompt_tokens: 500, input: '2', output: '2' },
      ],
    });
    expect(costOf(own, { input: 499 })).toBe(499_000n);
    expect(costOf(own, { input: 500, cacheRead: 400 })).toBe(1_000_000n);
  });

  it('includes fees for the request and for hosted tools', () => {
    const own = prices({
      request_fee: '0.001',
      tool_fees: { web_search: '0.01' },
      tiers: [{ from_prompt_tokens: 0, input: '0', output: '0' }],
    });
    expect(costOf(own, { input: 5, toolUses: { web_search: 2, file_search: 9 } })).toBe(21_000_000n);
  });

  it('is a share of the model’s own price, with its tiers and cached tokens', () => {
    // 90 × $2 + 10 × $0.20 + 4 × $10 = $0.000222; of that 75 hundredths.
    expect(costOf(share(750_000n), { input: 100, cacheRead: 10, output: 4 })).toBe(166_500n);
    expect(costOf(share(1_100_000n), { input: 1000 })).toBe(4_400_000n);
    expect(costOf(share(0n), { input: 1000, output: 1000 })).toBe(0n);
  });

  it('is rounded once, half up, possibly to zero', () => {
    const own = (input: string): UpstreamCost => prices({ tiers: [{ from_prompt_tokens: 0, input, output: '0' }] });
    // 0.5, 0.499999 and 1.5 nano-dollars.
    expect(costOf(own('0.0005'), { input: 1 })).toBe(1n);
    expect(costOf(own('0.000499999'), { input: 1 })).toBe(0n);
    expect(costOf(own('0.0005'), { input: 3 })).toBe(2n);
    // Half of 0.9 nano-dollars is under a half, though each part rounded for itself would come to 1.
    expect(
      costOf(prices({ tiers: [{ from_prompt_tokens: 0, input: '0.00025', output: '0.00024' }] }), {
        input: 1,
        output: 1,
      }),
    ).toBe(0n);
    // A share of 2,000 nano-dollars that is 0.5 of one.
    expect(costOf(share(250n), { input: 1 })).toBe(1n);
    expect(costOf(share(249n), { input: 1 })).toBe(0n);
  });

  it('uses the reported service tier, even above the requested one, and ignores effort', () => {
    const own = prices({ tiers: [{ from_prompt_tokens: 0, input: '1', output: '1' }] });
    expect(costOf(own, { input: 10, serviceTier: 'priority' }, { serviceTier: 'default' })).toBe(20_000n);
    expect(costOf(own, { input: 10 }, { serviceTier: 'priority' })).toBe(20_000n);
    expect(costOf(own, { input: 10, serviceTier: 'default' }, { serviceTier: 'priority' })).toBe(10_000n);
    expect(costOf(share(500_000n), { input: 10, serviceTier: 'priority' })).toBe(20_000n);
    expect(costOf(share(500_000n), { input: 10 }, { effort: 'high' })).toBe(10_000n);
  });

  it('uses the reported speed and region', () => {
    const own = prices({ tiers: [{ from_prompt_tokens: 0, input: '1', output: '1' }] });
    expect(costOf(own, { input: 10, speed: 'fast' })).toBe(60_000n);
    expect(costOf(own, { input: 10, speed: 'fast', geo: 'us' })).toBe(66_000n);
    expect(costOf(share(500_000n), { input: 10, geo: 'us' })).toBe(11_000n);
    expect(costOf(own, { input: 10 }, { demands: { speed: 'fast' } as RequestDemands })).toBe(60_000n);
  });

  it('is rounded once over all models', () => {
    const own = prices({ tiers: [{ from_prompt_tokens: 0, input: '0.0004', output: '0' }] });
    const parts = [part(own, { input: 1 }), part(own, { input: 1 }), part(own, { input: 1 })];
    // 1.2 nano-dollars, though each rounded for itself would come to nothing.
    expect(upstreamCost(parts, HEAD, NO_TOKENS)).toBe(1n);
  });
});

describe('upstream cost of an attempt with passes', () => {
  const plan = {
    model: { name: 'm', pricing: LIST },
    namedModels: new Map([['big', { name: 'big', pricing: LIST }]]),
  } as unknown as BillingPlan;
  const own = prices({ tiers: [{ from_prompt_tokens: 0, input: '1', output: '1' }] });
  const big = prices({ tiers: [{ from_prompt_tokens: 0, input: '5', output: '5' }] });
  const costed = (usage: Partial<TokenUsage>, costs: ReadonlyMap<string, UpstreamCost>): string | null => {
    const offers = { models: new Map([['big', ['vendor-big']]]), costs };
    const target = { channel: 'c', protocol: 'messages', upstreamModel: 'm', credential: 1, cost: own, offers };
    const attempt = new AttemptLog({ id: 'req_1', createdAt: 0 }, 1, target, 0);
    attempt.headers(200);
    return costedAttempts([attempt], { head: HEAD, protocol: 'messages' }, plan, { ...NO_TOKENS, ...usage }).cost;
  };
  const pass = (model: string | undefined): readonly UsagePass[] => [{ model, usage: { ...NO_TOKENS, input: 10 } }];

  it('uses the channel’s cost of each pass’s model', () => {
    const costs = new Map([['big', big]]);
    expect(costed({ input: 10, passes: pass(undefined) }, costs)).toBe('20000');
    expect(costed({ input: 10, passes: pass('vendor-big') }, costs)).toBe('60000');
    expect(costed({ input: 10, servedBy: 'vendor-big' }, costs)).toBe('50000');
  });

  it('is unknown when the cost of one model is unknown', () => {
    expect(costed({ input: 10, passes: pass('vendor-big') }, new Map())).toBeNull();
    expect(costed({ input: 10, passes: pass('another') }, new Map([['big', big]]))).toBeNull();
  });
});
