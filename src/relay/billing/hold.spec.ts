import { type CatalogModel, parsePricing } from '../../catalog/index.js';
import { parseUsd } from '../../platform/shared/index.js';
import { type CallHead, NO_TOKENS } from '../../protocols/contract/index.js';
import type { ExtensionResult } from './admission.js';
import { AdmissionUnavailable, OutOfCredit } from './billing.errors.js';
import { affordableOutput, Credit, type CreditLine, heldPromptTokens, holdFor, likelyPromptTokens } from './hold.js';
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

const DEFINITION = { free: false, request_fee: '0', effort_multipliers: {} };
/** $1 per million in, $10 out; 1,000 prompt tokens cost 1,000,000 nanos and an output token 10,000. */
const streamTerms = {
  pricing: parsePricing({ ...DEFINITION, tiers: [{ from_prompt_tokens: 0, input: '1', output: '10' }] }),
  serviceMultiplier: 1_000_000n,
  effortMultiplier: 1_000_000n,
  groupMultiplier: 1_000_000n,
};
const PROMPT = 1_000_000n;
const TOKEN = 10_000n;
/** Holds for the prompt and 1,000 tokens, of at most 5,000. */
const line = (overrides: Partial<CreditLine> = {}): CreditLine => ({
  terms: streamTerms,
  prompt: { ...NO_TOKENS, input: 1000 },
  bound: 5000,
  slice: 1000,
  held: PROMPT + 1000n * TOKEN,
  isOfMember: false,
  ...overrides,
});

/** A wallet with so much left; it gives what it has, and remembers what it was asked. */
function aWallet(left: bigint) {
  const requested: { held: bigint; want: bigint }[] = [];
  const wallet = {
    left,
    requested,
    extend: async (held: bigint, want: bigint): Promise<ExtensionResult> => {
      requested.push({ held, want });
      await Promise.resolve();
      const granted = want < wallet.left ? want : wallet.left;
      wallet.left -= granted;
      return { outcome: granted > 0n ? 'extended' : 'wallet', granted, free: wallet.left, onHold: 0n, holds: 0 };
    },
  };
  return wallet;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Credit', () => {
  it('covers the hold and requests nothing before half of the slice is used', () => {
    const wallet = aWallet(10n ** 9n);
    const credit = new Credit(line(), wallet.extend);
    expect(credit.covers(499)).toBe(true);
    expect(wallet.requested).toEqual([]);
  });

  it('requests the next slice once, ahead of use, and then covers it', async () => {
    const wallet = aWallet(10n ** 9n);
    const credit = new Credit(line(), wallet.extend);
    expect([credit.covers(500), credit.covers(600), credit.covers(1000)]).toEqual([true, true, true]);
    await nextTurn();
    expect(wallet.requested).toEqual([{ held: PROMPT + 1000n * TOKEN, want: 1000n * TOKEN }]);
    expect(credit.covers(2000)).toBe(true);
  });

  it('never requests more than the output limit', async () => {
    const wallet = aWallet(10n ** 9n);
    const credit = new Credit(line({ bound: 1200 }), wallet.extend);
    credit.covers(1000);
    await nextTurn();
    expect(wallet.requested).toMatchObject([{ want: 200n * TOKEN }]);
    expect([credit.covers(1200), credit.covers(1201)]).toEqual([true, false]);
    expect(wallet.requested).toHaveLength(1);
  });

  it('requests slice by slice when the upstream exceeds the limit', async () => {
    const wallet = aWallet(4500n * TOKEN);
    const credit = new Credit(line({ bound: 1000 }), wallet.extend);
    expect(credit.covers(4 * 1000 + 1)).toBe(false);
    // Extends from the 1,000 held to a slice more than has arrived.
    await credit.untilCovered(4 * 1000 + 1);
    expect(wallet.requested).toEqual([{ held: PROMPT + 1000n * TOKEN, want: 4001n * TOKEN }]);
    expect([credit.covers(5001), credit.covers(5002)]).toEqual([true, false]);
    // 499 are left, and no more.
    await credit.untilCovered(5002);
    expect(wallet.left).toBe(0n);
    expect(credit.covers(5500)).toBe(true);
    await expect(credit.untilCovered(5501)).rejects.toThrow('insufficient quota');
  });

  it('waits for a large uncovered piece', async () => {
    const wallet = aWallet(10n ** 9n);
    const credit = new Credit(line(), wallet.extend);
    expect(credit.covers(3000)).toBe(false);
    await credit.untilCovered(3000);
    expect(credit.covers(3000)).toBe(true);
    expect(wallet.requested[0]).toMatchObject({ want: 3000n * TOKEN });
  });

  it('covers exactly what the money pays for', async () => {
    const wallet = aWallet(300n * TOKEN);
    const credit = new Credit(line(), wallet.extend);
    await credit.untilCovered(1300);
    await expect(credit.untilCovered(1301)).rejects.toThrow(OutOfCredit);
    expect(wallet.left).toBe(0n);
  });

  it('requests again when needed after an early request was rejected', async () => {
    const wallet = aWallet(0n);
    const credit = new Credit(line(), wallet.extend);
    credit.covers(900);
    await nextTurn();
    wallet.left = 10n ** 9n;
    expect(credit.covers(1001)).toBe(false);
    await credit.untilCovered(1001);
    expect(credit.covers(1001)).toBe(true);
  });

  it('covers more when the reported prompt is smaller than estimated', () => {
    const credit = new Credit(line(), aWallet(0n).extend);
    // 500 prompt tokens less pay for 50 output tokens more.
    credit.report({ ...NO_TOKENS, input: 500, output: 1 });
    expect([credit.covers(1050), credit.covers(1051)]).toEqual([true, false]);
  });

  it('covers more when the counted prompt is smaller than held', () => {
    const credit = new Credit(line(), aWallet(0n).extend);
    credit.count(400);
    expect([credit.covers(1060), credit.covers(1061)]).toEqual([true, false]);
    // A report stands.
    credit.report({ ...NO_TOKENS, input: 500, output: 1 });
    credit.count(100);
    expect([credit.covers(1050), credit.covers(1051)]).toEqual([true, false]);
  });

  it('does not spend the reserve for tools and passes on output', async () => {
    const wallet = aWallet(10n ** 9n);
    const credit = new Credit(line({ reserve: 500n * TOKEN }), wallet.extend);
    expect([credit.covers(500), credit.covers(501)]).toEqual([true, false]);
    await credit.untilCovered(501);
    expect(wallet.requested.reduce((sum, { want }) => sum + want, 0n)).toBeGreaterThanOrEqual(500n * TOKEN);
    expect(credit.payableOutput({ ...NO_TOKENS, input: 1000 })).toBeGreaterThan(1500);
  });

  it('lets a running stream continue slice by slice during a database outage', async () => {
    const credit = new Credit(line(), () => Promise.reject(new AdmissionUnavailable(new Error('gone'))));
    await credit.untilCovered(1500);
    expect(credit.covers(2500)).toBe(true);
    await credit.untilCovered(2501);
  });

  it('requests nothing when output is free', () => {
    const free = {
      ...streamTerms,
      pricing: parsePricing({ free: true, request_fee: '0', effort_multipliers: {}, tiers: [] }),
    };
    const wallet = aWallet(0n);
    const credit = new Credit(line({ terms: free, held: 0n }), wallet.extend);
    expect(credit.covers(1_000_000)).toBe(true);
    expect(wallet.requested).toEqual([]);
  });

  it.each(['reasoning', 'audio_output'])('holds output at the most expensive price when that is %s', async (dearer) => {
    const pricing = parsePricing({
      ...DEFINITION,
      tiers: [{ from_prompt_tokens: 0, input: '1', output: '10', [dearer]: '20' }],
    });
    const wallet = aWallet(10n ** 9n);
    const credit = new Credit(line({ terms: { ...streamTerms, pricing }, held: PROMPT }), wallet.extend);
    await credit.untilCovered(100);
    expect(wallet.requested).toEqual([{ held: PROMPT, want: 1100n * 2n * TOKEN }]);
  });

  it('keeps output trusted during an outage when the upstream reports usage repeatedly', async () => {
    let requested = 0;
    const credit = new Credit(line(), () => {
      requested += 1;
      return Promise.reject(new AdmissionUnavailable(new Error('gone')));
    });
    await credit.untilCovered(1500);
    credit.report({ ...NO_TOKENS, input: 1000, output: 1500 });
    expect([credit.covers(1900), requested]).toEqual([true, 1]);
  });
});
