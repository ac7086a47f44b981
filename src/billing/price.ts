import type { TokenUsage } from '../call/index.js';
import type { PriceTier, Pricing, TokenClass } from '../catalog/index.js';
import { type Nanos, ZERO, nanos } from '../shared/index.js';

/** What a call is priced by, fixed at admission. Multipliers in millionths. */
export interface PriceTerms {
  readonly pricing: Pricing;
  readonly effortMultiplier: bigint;
  readonly groupMultiplier: bigint;
}

/** One term of the sum, as a person reads it: so many tokens at so many nano-dollars per million. */
interface CostTerm {
  readonly item: TokenClass | 'request_fee';
  readonly quantity: number;
  /** Nano-dollars per one million tokens; for the request fee nano-dollars of the fee itself. */
  readonly price: bigint;
}

const MILLION = 1_000_000n;
/** Prices are per million tokens, and each of the two multipliers is in millionths. */
const DENOMINATOR = MILLION ** 3n;

/** The tier that a prompt of so many tokens falls in, cached ones included. Tiers ascend and the first begins at 0. */
function tierFor(pricing: Pricing, promptTokens: number): PriceTier {
  const tier = pricing.tiers.findLast(({ fromPromptTokens }) => fromPromptTokens <= promptTokens);
  if (tier === undefined) throw new RangeError('A pricing without a tier from 0 tokens.');
  return tier;
}

/** The disjoint classes that the tokens of a call fall in: no token is counted twice. */
function tokensByClass(usage: TokenUsage): readonly (readonly [TokenClass, number])[] {
  const cached = usage.cacheRead + usage.cacheWrite + usage.cacheWrite1h;
  return [
    ['input', Math.max(0, usage.input - cached)],
    ['cache_read', usage.cacheRead],
    ['cache_write_5m', usage.cacheWrite],
    ['cache_write_1h', usage.cacheWrite1h],
    ['output', Math.max(0, usage.output - usage.reasoning)],
    ['reasoning', Math.min(usage.reasoning, usage.output)],
  ];
}

/** The terms of a call's price; those of zero quantity are left out. */
export function costTerms(pricing: Pricing, usage: TokenUsage): readonly CostTerm[] {
  const { prices } = tierFor(pricing, usage.input);
  const terms: CostTerm[] = [];
  for (const [item, quantity] of tokensByClass(usage))
    if (quantity > 0) terms.push({ item, quantity, price: prices[item] });
  if (pricing.requestFee > 0n) terms.push({ item: 'request_fee', quantity: 1, price: pricing.requestFee });
  return terms;
}

/** Σ of the terms in nano-dollars per million tokens, multipliers not yet applied. */
function sumOf(terms: readonly CostTerm[]): bigint {
  return terms.reduce(
    (sum, { item, quantity, price }) => sum + (item === 'request_fee' ? price * MILLION : BigInt(quantity) * price),
    0n,
  );
}

/** Rounded once, half up; whatever has a price costs at least one nano-dollar. */
export function costOf(terms: PriceTerms, usage: TokenUsage): Nanos {
  return rounded(sumOf(costTerms(terms.pricing, usage)) * terms.effortMultiplier * terms.groupMultiplier);
}

/** What an uncached prompt of so many tokens comes to with so much output, the output at the dearer of its prices. */
export function costWithOutput(terms: PriceTerms, promptTokens: number): (outputTokens: number) => Nanos {
  const { pricing } = terms;
  const multiplier = terms.effortMultiplier * terms.groupMultiplier;
  const prompt = BigInt(promptTokens) * tierFor(pricing, promptTokens).prices.input + pricing.requestFee * MILLION;
  const output = dearestOutput(pricing, promptTokens);
  return (outputTokens) => rounded((prompt + BigInt(outputTokens) * output) * multiplier);
}

function rounded(numerator: bigint): Nanos {
  if (numerator === 0n) return ZERO;
  const halfUp = (2n * numerator + DENOMINATOR) / (2n * DENOMINATOR);
  return nanos(halfUp === 0n ? 1n : halfUp);
}

/** How many output tokens a budget buys on top of what the given usage costs; undefined when output costs nothing. */
export function outputTokensFor(terms: PriceTerms, usage: TokenUsage, budget: bigint): number | undefined {
  const multiplier = terms.effortMultiplier * terms.groupMultiplier;
  const price = dearestOutput(terms.pricing, usage.input) * multiplier;
  if (price === 0n) return undefined;
  const left = budget * DENOMINATOR - sumOf(costTerms(terms.pricing, usage)) * multiplier;
  return left <= 0n ? 0 : Number(left / price);
}

/** Output may turn out to be text or reasoning: what is set aside for it is at the dearer of the two prices. */
function dearestOutput(pricing: Pricing, promptTokens: number): bigint {
  const { prices } = tierFor(pricing, promptTokens);
  return prices.output > prices.reasoning ? prices.output : prices.reasoning;
}
