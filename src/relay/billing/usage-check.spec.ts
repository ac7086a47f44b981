import { type CatalogModel, FREE_PRICING } from '../../catalog/index.js';
import { type CallHead, NO_TOKENS, type RequestDemands, type TokenUsage } from '../../protocols/contract/index.js';
import { boundedUsage, checkUsage, isBelievable, qualityOf, reportColumn, usageBounds } from './usage-check.js';

const MODEL = {
  contextWindow: 200_000,
  maxOutputTokens: 64_000,
  capabilities: {},
  pricing: FREE_PRICING,
} as unknown as CatalogModel;
const REASONER = { ...MODEL, capabilities: { reasoning: true } };
const NO_DEMANDS: RequestDemands = {
  models: [],
  hostedTools: [],
  addsPasses: false,
  scopedIds: [],
  unknownMembers: [],
};

interface UsageCase {
  readonly head?: Partial<CallHead>;
  readonly model?: CatalogModel;
  readonly continuedTokens?: number;
  /** Units of output that arrived. */
  readonly meteredUnits?: number | undefined;
}

const boundsOf = ({ head, model = MODEL, continuedTokens }: UsageCase) => {
  const size = { bytes: 600, encodedBytes: 0, images: 0 };
  const requested = { model: 'm', stream: true, outputLimit: undefined, choices: 1, effort: undefined, size, ...head };
  return usageBounds(requested as CallHead, { model, continuedTokens });
};
/** 130 tokens of prompt and 5 of response were counted. */
const check = (report: Partial<TokenUsage>, requested: UsageCase = {}) => {
  const meteredUnits = 'meteredUnits' in requested ? requested.meteredUnits : 5;
  return checkUsage({ ...NO_TOKENS, ...report }, boundsOf(requested), { prompt: 130, output: 5, meteredUnits });
};
const GOOD = { input: 130, output: 5 };

const alternative = (...names: string[]): Partial<CallHead> => ({
  demands: {
    ...NO_DEMANDS,
    models: names.map((name) => ({ name, path: 'models', role: 'alternative', field: { at: 0, end: 0 } as never })),
  },
});

describe('a report of usage that must be believed', () => {
  const hosted = (maxUses?: number): Partial<CallHead> => ({
    demands: { ...NO_DEMANDS, hostedTools: [{ name: 'web_search', path: 'tools.0', maxUses }] },
  });
  const outside = (previousResponseId?: string): Partial<CallHead> => ({ outside: { previousResponseId } });
  const size = (bytes: number, encodedBytes = 0, images = 0): Partial<CallHead> => ({
    size: { bytes, encodedBytes, images },
  });

  it.each<[name: string, report: Partial<TokenUsage>, asked?: UsageCase]>([
    ['of a prompt that was mostly cached', { input: 4000, cacheRead: 3900, output: 5 }],
    ['of a prompt that was written to caches', { input: 4000, cacheWrite: 1000, cacheWrite1h: 2000, output: 5 }],
    ['of a token for each byte', { input: 150_000, output: 5 }, { head: size(150_000) }],
    ['with what a vendor adds to a prompt', { input: 600 + 8192, output: 5 }],
    ['with reasoning far larger than the text', { input: 130, output: 60_000, reasoning: 59_990 }],
    ['with hidden reasoning of which no part is told', { input: 130, output: 60_000 }, { model: REASONER }],
    ['with hidden reasoning that was asked for', { input: 130, output: 60_000 }, { head: { effort: 'high' } }],
    ['with reasoning and no text', { input: 130, output: 900, reasoning: 900 }, { meteredUnits: 0 }],
    ['of an answer without output', { input: 130 }, { meteredUnits: 0 }],
    ['of four answers', { input: 130, output: 4 * 64_000, reasoning: 250_000 }, { head: { choices: 4 } }],
    ['with the end of an answer', { input: 130, output: 101 }, { head: { outputLimit: 100 } }],
    ['of an unstreamed response that was not metered', { input: 130, output: 9000 }, { meteredUnits: undefined }],
    ['with images by address', { input: 40_000, output: 5, imageInput: 39_000 }, { head: size(600, 0, 1) }],
    ['with a file in the body', { input: 190_000, output: 5 }, { head: size(60_000, 59_000) }],
    ['of a conversation that continues a response', { input: 150_000, output: 5 }, { head: outside('resp_1') }],
    ['with files by id', { input: 150_000, output: 5 }, { head: outside() }],
    [
      'with pages that a search has read',
      { input: 900_000, output: 5, toolUses: { web_search: 2 } },
      { head: hosted() },
    ],
    ['with many searches', { input: 4_000_000, output: 5, toolUses: { web_search: 30 } }, { head: hosted(30) }],
    ['with a search that no member asked for', { input: 90_000, output: 5, toolUses: { web_search: 1 } }],
    [
      'with the turn of a model that declined',
      { ...GOOD, passes: [{ model: 'first', usage: NO_TOKENS }] },
      { head: alternative('second') },
    ],
    ['with the voice of an answer', { input: 130, output: 30_000, audioOutput: 29_000 }],
  ])('is one %s', (...row) => {
    const [, report, requested] = row;
    const { usage, findings } = check(report, requested);
    expect(findings).toEqual([]);
    expect(usage).toEqual({ ...NO_TOKENS, ...report });
  });
});

describe('a report of usage that cannot be true', () => {
  it.each<[finding: string, report: Partial<TokenUsage>, charged: Partial<TokenUsage>, asked?: UsageCase]>([
    ['prompt_too_large', { input: 1e10, output: 5 }, GOOD],
    ['prompt_too_large', { input: 600 + 8193, output: 5 }, GOOD],
    [
      'prompt_too_large',
      { input: 200_001, output: 5 },
      GOOD,
      { head: { size: { bytes: 1e6, encodedBytes: 0, images: 0 } } },
    ],
    // The rest of the prompt is not here to be counted.
    [
      'prompt_too_large',
      { input: 1e9, output: 5 },
      { input: 200_000, output: 5 },
      { head: { outside: { previousResponseId: 'resp_1' } } },
    ],
    ['prompt_too_large', { input: 100_130, cacheRead: 100_000, output: 5 }, GOOD],
    ['prompt_too_large', { output: 5, irregular: { input: '1e+300' } }, GOOD],
    ['prompt_too_large', { output: 5, irregular: { input: '100000000000' } }, GOOD],
    ['prompt_too_large', { output: 5, irregular: { input: '"99999999999"' } }, GOOD],
    ['prompt_zero', { output: 5 }, GOOD],
    ['completion_zero', { input: 130 }, GOOD],
    ['completion_too_large', { input: 130, output: 117 }, GOOD, { head: { outputLimit: 100 } }],
    ['completion_too_large', { input: 130, output: 4 * 64_000 + 65 }, GOOD, { head: { choices: 4 }, model: REASONER }],
    ['completion_too_large', { input: 130, output: 4117 }, GOOD],
    ['tool_uses_too_large', { ...GOOD, toolUses: { web_search: 1e9 } }, { ...GOOD, toolUses: { web_search: 100 } }],
    ['passes_too_large', { ...GOOD, passes: [{ model: 'dear', usage: NO_TOKENS }] }, GOOD],
    // Alternatives add turns of models that declined, and nothing else.
    [
      'passes_too_large',
      { ...GOOD, passes: [{ model: undefined, usage: NO_TOKENS }] },
      GOOD,
      { head: alternative('b') },
    ],
    [
      'passes_too_large',
      { ...GOOD, passes: ['a', 'b'].map((model) => ({ model, usage: NO_TOKENS })) },
      { ...GOOD, passes: [{ model: 'a', usage: NO_TOKENS }] },
      { head: alternative('b') },
    ],
    [
      'passes_too_large',
      { ...GOOD, imageGeneration: { textInput: 1, imageInput: 0, textOutput: 0, imageOutput: 9 } },
      { ...GOOD, imageGeneration: { textInput: 0, imageInput: 0, textOutput: 0, imageOutput: 0 } },
    ],
  ])('is found as %s, and charged as counted: %j', (...row) => {
    const [finding, report, charged, requested] = row;
    const { usage, findings } = check(report, requested);
    expect([findings, qualityOf(findings)]).toEqual([[finding], 'implausible']);
    expect(usage).toMatchObject({ ...NO_TOKENS, ...charged });
  });

  it('is charged no more than the output limit, whatever was counted', () => {
    const report = { ...NO_TOKENS, input: 130, output: 75_000_000 };
    const counted = { prompt: 130, output: 75_000_000, meteredUnits: 75_000_000 };
    expect(checkUsage(report, boundsOf({ head: { outputLimit: 100 } }), counted).usage.output).toBe(100);
  });

  it('has no parts of a prompt that it lacks', () => {
    const { usage } = check({ input: 1e9, cacheRead: 9e8, imageInput: 100, output: 5 });
    expect(usage).toMatchObject({ input: 130, cacheRead: 0 });
    expect(usage.imageInput).toBeUndefined();
  });
});

describe('a report of usage that lacks a part', () => {
  it.each([
    [{ input: '' }, 'prompt_missing'],
    [{ input: '-9' }, 'prompt_missing'],
    [{ output: '"many"' }, 'completion_missing'],
    [{ output: '2.5' }, 'completion_missing'],
  ])('has it counted: %j', (irregular, finding) => {
    const totals = 'input' in irregular ? { input: 0, output: 5 } : { input: 130, output: 0 };
    const { usage, findings } = check({ ...totals, irregular });
    expect([findings, qualityOf(findings)]).toEqual([[finding], 'partial']);
    expect(usage).toMatchObject(GOOD);
  });

  it('is complete with counts in strings, which is noted', () => {
    const report = { ...GOOD, irregular: { input: '"130"', output: '"5"' } };
    const { usage, findings } = check(report);
    expect([usage, findings, qualityOf(findings)]).toMatchObject([GOOD, ['counts_in_strings'], 'complete']);
  });

  it('is kept as it was written', () => {
    const report = { ...NO_TOKENS, output: 7, irregular: { input: '-9' } };
    expect(JSON.parse(reportColumn(report, ['prompt_missing']))).toMatchObject({
      findings: ['prompt_missing'],
      prompt_tokens: '-9',
      completion_tokens: 7,
    });
    expect(JSON.parse(reportColumn({ ...report, irregular: { input: '' } }, []))).toMatchObject({
      prompt_tokens: null,
    });
  });
});

describe('a report while the response comes', () => {
  it('is taken as it is where it can be true', () => {
    const report = { ...NO_TOKENS, input: 130, output: 1 };
    expect(boundedUsage(report, boundsOf({}))).toBe(report);
  });

  it('says nothing of a side that cannot be true', () => {
    expect(boundedUsage({ ...NO_TOKENS, input: 1e10, cacheRead: 1e9, output: 1 }, boundsOf({}))).toMatchObject({
      input: 0,
      cacheRead: 0,
      output: 1,
    });
    expect(boundedUsage({ ...NO_TOKENS, input: 130, output: 1e10 }, boundsOf({}))).toMatchObject({
      input: 130,
      output: 0,
    });
    // Three units arrived, so that 4,000 tokens more may be markup and 9,000 may not.
    expect(boundedUsage({ ...NO_TOKENS, input: 130, output: 4000 }, boundsOf({}), 3).output).toBe(4000);
    expect(boundedUsage({ ...NO_TOKENS, input: 130, output: 9000 }, boundsOf({}), 3).output).toBe(0);
  });

  it('is no reason to stop keeping what the model writes while it lacks the output', () => {
    const bounds = boundsOf({});
    expect(isBelievable({ ...NO_TOKENS, input: 130 }, bounds, 3)).toBe(false);
    expect(isBelievable({ ...NO_TOKENS, input: 130, output: 3 }, bounds, 3)).toBe(true);
  });
});
