import { type CatalogModel, parsePricing } from '../../catalog/index.js';
import { parseUsd } from '../../platform/shared/index.js';
import { type CallHead, NO_TOKENS } from '../../protocols/contract/index.js';
import { affordableOutput, heldPromptTokens, holdFor, likelyPromptTokens } from './hold.js';
import type { PriceTerms } from './price.js';

/** $1 per million in, $15 out: with the body below, 1,000 prompt tokens are held for, $0.001. */
const model = { contextWindow: 200_000, maxOutputTokens: 128_000 } as CatalogModel;
const terms: PriceTerms = {
  pricing: parsePricing({
    free: false,
    request_fee: '0',
    effort_multipliers: {},
    tiers: [{ from_prompt_tokens: 0, input: '1', output: '15' }],
  }),
  serviceMultiplier: 1_000_000n,
  effortMultiplier: 1_000_000n,
  groupMultiplier: 1_000_000n,
};
const BESIDE = { prompt: { ...NO_TOKENS, input: 1000 }, reserve: 0n };
const head = (overrides: Partial<CallHead>): CallHead => ({
  model: 'm',
  stream: false,
  outputLimit: undefined,
  choices: 1,
  effort: undefined,
  size: { bytes: 2000, encodedBytes: 0, images: 0 },
  fields: undefined as never,
  ...overrides,
});

describe('the hold of a call', () => {
  it('bounds the prompt by text, images and encoded content, up to the context window', () => {
    expect(heldPromptTokens({ bytes: 2001, encodedBytes: 0, images: 0 }, 200_000)).toBe(1001);
    expect(heldPromptTokens({ bytes: 2001, encodedBytes: 0, images: 2, maxTextTokens: 1500 }, 200_000)).toBe(11_100);
    const image = { kind: 'image', start: 0, end: 9, maxTokens: 300, likelyTokens: 90 } as const;
    const media = [image, { ...image, kind: 'audio', maxTokens: 1000, likelyTokens: 10 } as const];
    const size = { bytes: 90, encodedBytes: 18, images: 1, maxTextTokens: 50, media };
    expect(heldPromptTokens(size, 200_000)).toBe(1350);
    expect(likelyPromptTokens(size, 200_000)).toBe(118);
    expect(heldPromptTokens({ bytes: 30_000_000, encodedBytes: 0, images: 0 }, 200_000)).toBe(200_000);
    expect(likelyPromptTokens({ bytes: 2001, encodedBytes: 0, images: 0 }, 200_000)).toBe(501);
  });

  it('covers 1,024 output tokens of a stream, or its limit when that is lower', () => {
    // $0.001 + 1,024 × $15/M = $0.01636
    expect(holdFor(head({ stream: true }), model, terms, BESIDE)).toMatchObject({
      prompt: parseUsd('0.001'),
      base: parseUsd('0.01636'),
      ceiling: parseUsd('0.01636'),
    });
    expect(holdFor(head({ stream: true, outputLimit: 100 }), model, terms, BESIDE).ceiling).toBe(parseUsd('0.0025'));
  });

  it('covers the whole output limit of an unstreamed call for every choice', () => {
    expect(holdFor(head({ outputLimit: 1000 }), model, terms, BESIDE).ceiling).toBe(parseUsd('0.016'));
    expect(holdFor(head({ outputLimit: 1000, choices: 3 }), model, terms, BESIDE).ceiling).toBe(parseUsd('0.046'));
  });

  it('covers 4,096 tokens to the max output when an unstreamed call has no limit', () => {
    // $0.001 + 4,096 × $15/M = $0.06244; $0.001 + 128,000 × $15/M = $1.921
    expect(holdFor(head({}), model, terms, BESIDE)).toMatchObject({
      base: parseUsd('0.06244'),
      ceiling: parseUsd('1.921'),
    });
  });

  it('requires at least the prompt and 16 output tokens', () => {
    // $0.001 + 16 × $15/M = $0.00124
    expect(holdFor(head({}), model, terms, BESIDE).minimum).toBe(parseUsd('0.00124'));
    expect(holdFor(head({ outputLimit: 4 }), model, terms, BESIDE).minimum).toBe(parseUsd('0.00106'));
  });

  it('limits the output when less was granted than requested', () => {
    const granted = { granted: parseUsd('0.0025'), ceiling: parseUsd('0.016') };
    expect(affordableOutput(head({ outputLimit: 1000 }), model, terms, granted, BESIDE)).toBe(100);
    expect(affordableOutput(head({ outputLimit: 1000, choices: 3 }), model, terms, granted, BESIDE)).toBe(33);
    expect(
      affordableOutput(head({ outputLimit: 1000 }), model, terms, { granted: 16n, ceiling: 16n }, BESIDE),
    ).toBeUndefined();
  });
});
