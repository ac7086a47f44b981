import type { TokenUsage } from '../call/index.js';
import type { PriceTier, Pricing, TokenClass } from '../catalog/index.js';
import { type Nanos, ZERO, nanos } from '../shared/index.js';

/** What a call is priced by, fixed at admission. Multipliers in millionths. */
export interface PriceTerms {
  readonly pricing: Pricing;
  readonly serviceMultiplier: bigint;
  readonly effortMultiplier: bigint;
  readonly groupMultiplier: bigint;
}

/** One term of the sum, as a person reads it: so many tokens at so many nano-dollars per million, or so many fees. */
export interface CostTerm {
  readonly item: TokenClass | `tool:${string}` | 'request_fee';
  readonly quantity: number;
  /** Nano-dollars per one million tokens; for a fee nano-dollars of the fee itself. */
  readonly price: bigint;
  readonly isFee: boolean;
}

const MILLION = 1_000_000n;
/** Prices are per million tokens, and each of the three multipliers is in millionths. */
const DENOMINATOR = MILLION ** 4n;

/** The tier that a prompt of so many tokens falls in, cached ones included. Tiers ascend and the first begins at 0. */
function tierFor(pricing: Pricing, promptTokens: number): PriceTier {
  const tier = pricing.tiers.findLast(({ fromPromptTokens }) => fromPromptTokens <= promptTokens);
  if (tier === undefined) throw new RangeError('A pricing without a tier from 0 tokens.');
  return tier;
}

/**
 * The disjoint classes that the tokens of a call fall in: no token is counted twice. What came from or went to a cache
 * counts as that, whatever it was; of the rest, images and sounds are counted as far as there is any left.
 */
function tokensByClass(usage: TokenUsage): readonly (readonly [TokenClass, number])[] {
  const { cacheRead, cacheWrite, cacheWrite1h, imageInput = 0, audioInput = 0, audioOutput = 0 } = usage;
  const uncached = Math.max(0, usage.input - cacheRead - cacheWrite - cacheWrite1h);
  const image = Math.min(imageInput, uncached);
  const audio = Math.min(audioInput, uncached - image);
  const reasoning = Math.min(usage.reasoning, usage.output);
  const spoken = Math.min(audioOutput, usage.output - reasoning);
  return [
    ['input', uncached - image - audio],
    ['cache_read', cacheRead],
    ['cache_write_5m', cacheWrite],
    ['cache_write_1h', cacheWrite1h],
    ['image_input', image],
    ['audio_input', audio],
    ['output', usage.output - reasoning - spoken],
    ['reasoning', reasoning],
    ['audio_output', spoken],
  ];
}

/** The terms of a call's price; those of zero quantity are left out. */
export function costTerms(pricing: Pricing, usage: TokenUsage): readonly CostTerm[] {
  const { prices } = tierFor(pricing, usage.input);
  const terms: CostTerm[] = [];
  for (const [item, quantity] of tokensByClass(usage))
    if (quantity > 0) terms.push({ item, quantity, price: prices[item], isFee: false });
  for (const tool in usage.toolUses) {
    const quantity = usage.toolUses[tool] ?? 0;
    if (quantity > 0)
      terms.push({ item: `tool:${tool}`, quantity, price: pricing.toolFees.get(tool) ?? 0n, isFee: true });
  }
  if (pricing.requestFee > 0n) terms.push({ item: 'request_fee', quantity: 1, price: pricing.requestFee, isFee: true });
  return terms;
}

/** Σ of the terms in nano-dollars per million tokens, multipliers not yet applied. */
export function sumOf(terms: readonly CostTerm[]): bigint {
  return terms.reduce(
    (sum, { quantity, price, isFee }) => sum + BigInt(quantity) * (isFee ? price * MILLION : price),
    0n,
  );
}

const multiplierOf = ({ serviceMultiplier, effortMultiplier, groupMultiplier }: PriceTerms): bigint =>
  serviceMultiplier * effortMultiplier * groupMultiplier;

/** Rounded once, half up; whatever has a price costs at least one nano-dollar. */
export function costOf(
  terms: PriceTerms,
  usage: TokenUsage,
  items: readonly CostTerm[] = costTerms(terms.pricing, usage),
): Nanos {
  return rounded(sumOf(items) * multiplierOf(terms));
}

/** What such a prompt comes to with so much output, the output at the dearest of its prices. */
export function costWithOutput(terms: PriceTerms, prompt: TokenUsage): (outputTokens: number) => Nanos {
  const multiplier = multiplierOf(terms);
  const ofPrompt = sumOf(costTerms(terms.pricing, prompt));
  const output = dearestOutput(terms.pricing, prompt.input);
  return (outputTokens) => rounded((ofPrompt + BigInt(outputTokens) * output) * multiplier);
}

function rounded(numerator: bigint): Nanos {
  if (numerator === 0n) return ZERO;
  const halfUp = (2n * numerator + DENOMINATOR) / (2n * DENOMINATOR);
  return nanos(halfUp === 0n ? 1n : halfUp);
}

/** How many output tokens a budget buys on top of what the given usage costs; undefined when output costs nothing. */
export function outputTokensFor(terms: PriceTerms, usage: TokenUsage, budget: bigint): number | undefined {
  const multiplier = multiplierOf(terms);
  const price = dearestOutput(terms.pricing, usage.input) * multiplier;
  if (price === 0n) return undefined;
  const left = budget * DENOMINATOR - sumOf(costTerms(terms.pricing, usage)) * multiplier;
  return left <= 0n ? 0 : Number(left / price);
}

/** Output may turn out to be text, reasoning or sound: what is set aside for it is at the dearest of their prices. */
function dearestOutput(pricing: Pricing, promptTokens: number): bigint {
  const { output, reasoning, audio_output } = tierFor(pricing, promptTokens).prices;
  const dearer = output > reasoning ? output : reasoning;
  return dearer > audio_output ? dearer : audio_output;
}
