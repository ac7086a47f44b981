import { refusalOf } from '../../../test/support/calls.js';
import { aContent, type Built, built } from '../../../test/support/translations.js';
import type { Call, ReasoningRequest, UpstreamTarget } from '../contract/index.js';
import { GeminiUpstream } from './upstream.js';

const upstream = new GeminiUpstream();

const build = (
  reasoning: Partial<ReasoningRequest>,
  flags: UpstreamTarget['flags'],
  { outputLimit, affordable }: { readonly outputLimit?: number; readonly affordable?: number } = {},
): Built => {
  const content = aContent({ reasoning: { show: 'none', ...reasoning }, outputLimit });
  const target = { stream: false, maxOutputTokens: 65_536, outputLimit: affordable, flags };
  return built(upstream, { call: {} as Call, content }, target);
};
const planOf = (...requested: Parameters<typeof build>): unknown => {
  const config = build(...requested).body['generationConfig'] as { readonly thinkingConfig?: unknown } | undefined;
  return config?.thinkingConfig;
};
const warningsOf = (...requested: Parameters<typeof build>): string | undefined => build(...requested).warnings;

const LEVEL = { thinkingMode: 'level' };
const BUDGET = { thinkingMode: 'budget' };
const ALWAYS = { thinkingMode: 'budget', efforts: ['low', 'medium', 'high'] };

describe('Gemini reasoning', () => {
  it('is left to the model by default', () => {
    expect([LEVEL, BUDGET, {}].map((flags) => planOf({}, flags))).toEqual([undefined, undefined, undefined]);
  });

  it('is shown if the client requests it', () => {
    expect(planOf({ show: 'text' }, LEVEL)).toEqual({ includeThoughts: true });
    expect(planOf({ show: 'sealed', thinking: 'on' }, LEVEL)).toBeUndefined();
    expect(planOf({ show: 'text' }, {})).toBeUndefined();
  });

  it('is requested by level', () => {
    expect(planOf({ effort: 'low' }, LEVEL)).toEqual({ thinkingLevel: 'LOW' });
    expect(planOf({ effort: 'high', show: 'text' }, { reasoning: true })).toEqual({
      includeThoughts: true,
      thinkingLevel: 'HIGH',
    });
  });

  it.each([
    ['minimal', 'LOW', undefined],
    ['max', 'HIGH', 'substituted:reasoning_effort'],
  ])('uses the level nearest to %s', (effort, thinkingLevel, warning) => {
    expect(planOf({ effort }, LEVEL)).toEqual({ thinkingLevel });
    expect(warningsOf({ effort }, LEVEL)).toBe(warning);
  });

  it("uses the model's configured levels", () => {
    const flags = { ...LEVEL, efforts: ['minimal', 'high'] };
    expect(planOf({ effort: 'minimal' }, flags)).toEqual({ thinkingLevel: 'MINIMAL' });
    expect(planOf({ effort: 'medium' }, flags)).toEqual({ thinkingLevel: 'MINIMAL' });
  });

  it('drops an unknown effort', () => {
    expect(planOf({ effort: 'cosmic' }, LEVEL)).toBeUndefined();
    expect(warningsOf({ effort: 'cosmic' }, LEVEL)).toBe('unsupported_parameter:reasoning_effort');
  });

  it('derives the effort from a budget', () => {
    expect(planOf({ thinking: 'on', budget: 4096 }, LEVEL)).toEqual({ thinkingLevel: 'LOW' });
    expect(planOf({ thinking: 'on', budget: 16_000 }, LEVEL)).toEqual({ thinkingLevel: 'MEDIUM' });
  });

  it.each<[Partial<ReasoningRequest>]>([[{ effort: 'none' }], [{ thinking: 'off' }]])(
    'is minimal when disabled: %j',
    (wish) => {
      expect(planOf(wish, BUDGET)).toEqual({ thinkingBudget: 0 });
      expect(warningsOf(wish, BUDGET)).toBeUndefined();
      expect(planOf(wish, LEVEL)).toEqual({ thinkingLevel: 'LOW' });
      expect(planOf(wish, { ...LEVEL, efforts: ['minimal', 'low'] })).toEqual({ thinkingLevel: 'MINIMAL' });
      expect(warningsOf(wish, LEVEL)).toBe('thinking_on:reasoning_effort');
      expect(planOf(wish, ALWAYS)).toEqual({ thinkingBudget: 512 });
      expect(warningsOf(wish, ALWAYS)).toBe('thinking_on:reasoning_effort');
      expect(warningsOf(wish, {})).toBeUndefined();
    },
  );

  it('is dropped if not supported', () => {
    expect(build({ effort: 'high', show: 'text' }, {})).toMatchObject({
      body: { contents: expect.anything() as unknown },
      warnings: 'thinking_off:reasoning_effort',
    });
    expect(planOf({ effort: 'high' }, {})).toBeUndefined();
  });

  it.each([
    ['low', 1024],
    ['medium', 8192],
    ['high', 24_576],
  ])("maps the effort %s to Google's budget", (effort, thinkingBudget) => {
    expect(planOf({ effort }, BUDGET)).toEqual({ thinkingBudget });
  });

  it('leaves half of the limit for the response', () => {
    expect(planOf({ effort: 'high' }, BUDGET, { outputLimit: 4000 })).toEqual({ thinkingBudget: 2000 });
    expect(planOf({ effort: 'high' }, BUDGET, { affordable: 3000 })).toEqual({ thinkingBudget: 1500 });
  });

  it("uses the client's budget within limits", () => {
    expect(planOf({ thinking: 'on', budget: 3000 }, BUDGET, { outputLimit: 4000 })).toEqual({ thinkingBudget: 3000 });
    expect(planOf({ thinking: 'on', budget: 32_000 }, BUDGET)).toEqual({ thinkingBudget: 24_576 });
    expect(warningsOf({ thinking: 'on', budget: 32_000 }, BUDGET)).toBe('clamped:reasoning_effort');
    expect(planOf({ thinking: 'on', budget: 3000 }, BUDGET, { outputLimit: 2000 })).toEqual({ thinkingBudget: 1999 });
  });

  it("is disabled if the client's limit is too low", () => {
    expect(planOf({ effort: 'low' }, BUDGET, { outputLimit: 100 })).toEqual({ thinkingBudget: 0 });
    expect(warningsOf({ effort: 'low', show: 'text' }, BUDGET, { outputLimit: 100 })).toBe(
      'thinking_off:reasoning_effort',
    );
    expect(planOf({ effort: 'low' }, ALWAYS, { outputLimit: 100 })).toEqual({ thinkingBudget: 512 });
  });

  it('is rejected if the affordable limit is too low', () => {
    const error = refusalOf(() => build({ effort: 'low' }, BUDGET, { affordable: 100 }));
    expect(error).toMatchObject({ kind: 'insufficient_quota', details: { param: 'reasoning_effort' } });
  });
});
