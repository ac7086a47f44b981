import { type ImageGenerationUsage, NO_TOKENS, type TokenUsage } from '../../protocols/contract/index.js';
import {
  IMAGE_GENERATION_CLASSES,
  type ImageGenerationClass,
  type PriceTier,
  type Pricing,
  type TokenClass,
} from '../../catalog/index.js';
import { type Nanos, ZERO, nanos } from '../../platform/shared/index.js';

/** What a call is priced by, fixed at admission. Multipliers in millionths. */
export interface PriceTerms {
  readonly pricing: Pricing;
  readonly serviceMultiplier: bigint;
  /** Of the speed and the region of inference; absent: 1. */
  readonly speedMultiplier?: bigint;
  readonly geoMultiplier?: bigint;
  readonly effortMultiplier: bigint;
  readonly groupMultiplier: bigint;
  /** Terms of other models that may serve the same tokens: a hold covers the dearest of all. A charge has none. */
  readonly alternatives?: readonly PriceTerms[];
}

/** What one model used of a call, and what it is priced by. */
export interface PricedPart {
  readonly terms: PriceTerms;
  readonly items: readonly CostTerm[];
}

/** One term of the sum, as a person reads it: so many tokens at so many nano-dollars per million, or so many fees. */
export interface CostTerm {
  readonly item: TokenClass | `image_generation:${ImageGenerationClass}` | `tool:${string}` | 'request_fee';
  readonly quantity: number;
  /** Nano-dollars per one million tokens; for a fee nano-dollars of the fee itself. */
  readonly price: bigint;
  readonly isFee: boolean;
}

const MILLION = 1_000_000n;
/** Prices are per million tokens, and each of the five multipliers is in millionths. */
const DENOMINATOR = MILLION ** 6n;

/** The tier that a prompt of so many tokens falls in, cached ones included. Tiers ascend and the first begins at 0. */
function tierFor(pricing: Pricing, promptTokens: number): PriceTier {
  const tier = pricing.tiers.findLast(({ fromPromptTokens }) => fromPromptTokens <= promptTokens);
  if (tier === undefined) throw new RangeError('Pricing has no tier that starts at 0 tokens.');
  return tier;
}

/**
 * The disjoint classes that the tokens of a call fall in: no token is counted twice. What came from or went to a cache
 * counts as that, whatever it was; of the rest, images and sounds are counted as far as there is any left.
 */
function tokensByClass(usage: TokenUsage): Readonly<Record<TokenClass, number>> {
  const { cacheRead, cacheWrite, cacheWrite1h, cacheWrite12h = 0 } = usage;
  const { imageInput = 0, audioInput = 0, audioOutput = 0 } = usage;
  const uncached = Math.max(0, usage.input - cacheRead - cacheWrite - cacheWrite1h - cacheWrite12h);
  const image = Math.min(imageInput, uncached);
  const audio = Math.min(audioInput, uncached - image);
  const reasoning = Math.min(usage.reasoning, usage.output);
  const spoken = Math.min(audioOutput, usage.output - reasoning);
  return {
    input: uncached - image - audio,
    cache_read: cacheRead,
    cache_write_5m: cacheWrite,
    cache_write_1h: cacheWrite1h,
    cache_write_12h: cacheWrite12h,
    image_input: image,
    audio_input: audio,
    output: usage.output - reasoning - spoken,
    reasoning,
    audio_output: spoken,
  };
}

/** In the order of the lines of a cost. */
const CLASSES: readonly TokenClass[] = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'cache_write_12h',
  'image_input',
  'audio_input',
  'output',
  'reasoning',
  'audio_output',
];

const IMAGE_COUNTS: Readonly<Record<ImageGenerationClass, keyof ImageGenerationUsage>> = {
  text_input: 'textInput',
  image_input: 'imageInput',
  text_output: 'textOutput',
  image_output: 'imageOutput',
};

/** The terms of a call's price; those of zero quantity are left out. */
export function costTerms(pricing: Pricing, usage: TokenUsage): readonly CostTerm[] {
  const terms = passTerms(pricing, usage);
  if (pricing.requestFee > 0n) terms.push({ item: 'request_fee', quantity: 1, price: pricing.requestFee, isFee: true });
  return terms;
}

/** The same of a pass: the fee for the request is charged once, with the call's own terms. */
export function passTerms(pricing: Pricing, usage: TokenUsage): CostTerm[] {
  const { prices } = tierFor(pricing, usage.input);
  const counts = tokensByClass(usage);
  const terms: CostTerm[] = [];
  for (const item of CLASSES)
    if (counts[item] > 0) terms.push({ item, quantity: counts[item], price: prices[item], isFee: false });
  if (usage.imageGeneration !== undefined) terms.push(...imageTerms(pricing, usage.imageGeneration));
  for (const tool in usage.toolUses) {
    const quantity = usage.toolUses[tool] ?? 0;
    if (quantity > 0)
      terms.push({ item: `tool:${tool}`, quantity, price: pricing.toolFees.get(tool) ?? 0n, isFee: true });
  }
  return terms;
}

const imageTerms = ({ imageGeneration: prices }: Pricing, usage: ImageGenerationUsage): readonly CostTerm[] =>
  IMAGE_GENERATION_CLASSES.map((name): CostTerm => {
    const quantity = usage[IMAGE_COUNTS[name]];
    return { item: `image_generation:${name}`, quantity, price: prices?.[name] ?? 0n, isFee: false };
  }).filter(({ quantity }) => quantity > 0);

/** Σ of the terms in nano-dollars per million tokens, multipliers not yet applied. */
export function sumOf(terms: readonly CostTerm[]): bigint {
  return terms.reduce(
    (sum, { quantity, price, isFee }) => sum + BigInt(quantity) * (isFee ? price * MILLION : price),
    0n,
  );
}

function multiplierOf(terms: PriceTerms): bigint {
  const { serviceMultiplier, speedMultiplier = MILLION, geoMultiplier = MILLION, effortMultiplier } = terms;
  return serviceMultiplier * speedMultiplier * geoMultiplier * effortMultiplier * terms.groupMultiplier;
}

/** Rounded once, half up; whatever has a price costs at least one nano-dollar. */
export const costOf = (terms: PriceTerms, usage: TokenUsage): Nanos =>
  costOfParts([{ terms, items: costTerms(terms.pricing, usage) }]);

/** What all models of a call cost together, rounded once. */
export const costOfParts = (parts: readonly PricedPart[]): Nanos =>
  rounded(parts.reduce((sum, part) => sum + exactCost(part), 0n));

/** Before it is rounded, to be compared and summed. */
export const exactCost = ({ terms, items }: PricedPart): bigint => sumOf(items) * multiplierOf(terms);

/** The prompt as it is dearest: all of it new, or all of it written to a cache in one of the classes. */
export function dearestPrompt(terms: PriceTerms, tokens: number, classes: readonly TokenClass[]): TokenUsage {
  let dearest: TokenClass = 'input';
  for (const name of classes)
    if (dearestPrice(terms, tokens, name) > dearestPrice(terms, tokens, dearest)) dearest = name;
  return { ...NO_TOKENS, input: tokens, [WRITES[dearest] ?? 'input']: tokens };
}

function dearestPrice({ pricing, alternatives = [] }: PriceTerms, promptTokens: number, name: TokenClass): bigint {
  let price = tierFor(pricing, promptTokens).prices[name];
  for (const other of alternatives) {
    const alternative = tierFor(other.pricing, promptTokens).prices[name];
    if (alternative > price) price = alternative;
  }
  return price;
}

const WRITES: Readonly<Partial<Record<TokenClass, keyof TokenUsage>>> = {
  cache_write_5m: 'cacheWrite',
  cache_write_1h: 'cacheWrite1h',
  cache_write_12h: 'cacheWrite12h',
};

/** The same prompt, of another size. */
export const promptOfSize = (prompt: TokenUsage, input: number): TokenUsage => {
  const { cacheWrite, cacheWrite1h, cacheWrite12h } = prompt;
  return {
    ...NO_TOKENS,
    input,
    cacheWrite: Math.min(cacheWrite, input),
    cacheWrite1h: Math.min(cacheWrite1h, input),
    ...(cacheWrite12h !== undefined && { cacheWrite12h: Math.min(cacheWrite12h, input) }),
  };
};

/**
 * What such a prompt comes to with so much output at most: the output at the dearest of its prices, by the dearest of
 * the terms that it may be charged by.
 */
export function costWithOutput(terms: PriceTerms, prompt: TokenUsage): (outputTokens: number) => Nanos {
  const { alternatives = [] } = terms;
  const own = costByTerms(terms, prompt);
  if (alternatives.length === 0) return own;
  const all = [own, ...alternatives.map((other) => costByTerms(other, prompt))];
  return (outputTokens) => all.map((cost) => cost(outputTokens)).reduce((one, other) => (one > other ? one : other));
}

function costByTerms(terms: PriceTerms, prompt: TokenUsage): (outputTokens: number) => Nanos {
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

/**
 * How many output tokens a budget buys on top of what the given usage costs, by whichever of the terms it buys least;
 * undefined when output costs nothing.
 */
export function outputTokensFor(terms: PriceTerms, usage: TokenUsage, budget: bigint): number | undefined {
  return [terms, ...(terms.alternatives ?? [])]
    .map((one) => outputByTerms(one, usage, budget))
    .reduce((one, other) => (one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)));
}

function outputByTerms(terms: PriceTerms, usage: TokenUsage, budget: bigint): number | undefined {
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
