import {
  type CatalogModel,
  formatMultiplier,
  IMAGE_GENERATION_CLASSES,
  type ImageGenerationClass,
  type PriceTier,
  type Pricing,
  type TokenClass,
} from '../../catalog/index.js';
import { formatUsd, type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import { type ImageGenerationUsage, NO_TOKENS, type TokenUsage } from '../../protocols/contract/index.js';
import type { Service } from './service-tier.js';

/** Price terms of a call, fixed at admission. Multipliers in millionths. */
export interface PriceTerms {
  readonly pricing: Pricing;
  readonly serviceMultiplier: bigint;
  /** Of speed and region; absent: 1. */
  readonly speedMultiplier?: bigint;
  readonly geoMultiplier?: bigint;
  readonly effortMultiplier: bigint;
  readonly groupMultiplier: bigint;
  /** Terms of other models that may serve the call: a hold covers the most expensive. Never set in charges. */
  readonly alternatives?: readonly PriceTerms[];
}

/** Usage and terms of one model. */
export interface PricedPart {
  readonly terms: PriceTerms;
  readonly items: readonly CostItem[];
}

/** A cost line: tokens at nano-dollars per million, or uses at a fee. */
export interface CostItem {
  readonly item: TokenClass | `image_generation:${ImageGenerationClass}` | `tool:${string}` | 'request_fee';
  readonly quantity: number;
  /** Nano-dollars per million tokens; for fees, nano-dollars per use. */
  readonly price: bigint;
  readonly isFee: boolean;
}

const MILLION = 1_000_000n;
/** Prices are per million tokens; each of five multipliers is in millionths. */
const DENOMINATOR = MILLION ** 6n;

/** The tier of a prompt, including cached tokens. Tiers ascend from 0. */
function tierFor(pricing: Pricing, promptTokens: number): PriceTier {
  const tier = pricing.tiers.findLast(({ fromPromptTokens }) => fromPromptTokens <= promptTokens);
  if (tier === undefined) throw new RangeError('Pricing has no tier that starts at 0 tokens.');
  return tier;
}

/**
 * Disjoint token classes of a usage: no token counts twice. Cache reads and writes take precedence; images and audio
 * are counted within the rest.
 */
function tokensByClass(usage: TokenUsage): Readonly<Record<TokenClass, number>> {
  const { cacheRead, cacheWrite, cacheWrite1h, cacheWrite12h = 0 } = usage;
  const { imageInput = 0, audioInput = 0, audioOutput = 0 } = usage;
  const uncached = Math.max(0, usage.input - cacheRead - cacheWrite - cacheWrite1h - cacheWrite12h);
  const image = Math.min(imageInput, uncached);
  const audio = Math.min(audioInput, uncached - image);
  const reasoning = Math.min(usage.reasoning, usage.output);
  const audioOut = Math.min(audioOutput, usage.output - reasoning);
  return {
    input: uncached - image - audio,
    cache_read: cacheRead,
    cache_write_5m: cacheWrite,
    cache_write_1h: cacheWrite1h,
    cache_write_12h: cacheWrite12h,
    image_input: image,
    audio_input: audio,
    output: usage.output - reasoning - audioOut,
    reasoning,
    audio_output: audioOut,
  };
}

/** In the order of cost lines. */
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

/** Cost lines, without zero quantities. */
export function costItems(pricing: Pricing, usage: TokenUsage): readonly CostItem[] {
  const items = passItems(pricing, usage);
  if (pricing.requestFee > 0n) items.push({ item: 'request_fee', quantity: 1, price: pricing.requestFee, isFee: true });
  return items;
}

/** The same for a pass, without the request fee, which is charged once. */
export function passItems(pricing: Pricing, usage: TokenUsage): CostItem[] {
  const { prices } = tierFor(pricing, usage.input);
  const counts = tokensByClass(usage);
  const items: CostItem[] = [];
  for (const item of CLASSES)
    if (counts[item] > 0) items.push({ item, quantity: counts[item], price: prices[item], isFee: false });
  if (usage.imageGeneration !== undefined) items.push(...imageItems(pricing, usage.imageGeneration));
  for (const tool in usage.toolUses) {
    const quantity = usage.toolUses[tool] ?? 0;
    if (quantity > 0)
      items.push({ item: `tool:${tool}`, quantity, price: pricing.toolFees.get(tool) ?? 0n, isFee: true });
  }
  return items;
}

const imageItems = ({ imageGeneration: prices }: Pricing, usage: ImageGenerationUsage): readonly CostItem[] =>
  IMAGE_GENERATION_CLASSES.map((name): CostItem => {
    const quantity = usage[IMAGE_COUNTS[name]];
    return { item: `image_generation:${name}`, quantity, price: prices?.[name] ?? 0n, isFee: false };
  }).filter(({ quantity }) => quantity > 0);

/** Sum of the lines in nano-dollars per million tokens, before multipliers. */
export function sumOf(items: readonly CostItem[]): bigint {
  return items.reduce(
    (sum, { quantity, price, isFee }) => sum + BigInt(quantity) * (isFee ? price * MILLION : price),
    0n,
  );
}

function multiplierOf(terms: PriceTerms): bigint {
  const { serviceMultiplier, speedMultiplier = MILLION, geoMultiplier = MILLION, effortMultiplier } = terms;
  return serviceMultiplier * speedMultiplier * geoMultiplier * effortMultiplier * terms.groupMultiplier;
}

/** Rounded once, half up; anything with a price costs at least one nano-dollar. */
export const costOf = (terms: PriceTerms, usage: TokenUsage): Nanos =>
  costOfParts([{ terms, items: costItems(terms.pricing, usage) }]);

/** Total of all models, rounded once. */
export const costOfParts = (parts: readonly PricedPart[]): Nanos =>
  rounded(parts.reduce((sum, part) => sum + exactCost(part), 0n));

/** Before rounding, for comparing and adding. */
export const exactCost = ({ terms, items }: PricedPart): bigint => sumOf(items) * multiplierOf(terms);

/** The most expensive form of a prompt: new input, or written to one of the cache classes. */
export function mostExpensivePrompt(terms: PriceTerms, tokens: number, classes: readonly TokenClass[]): TokenUsage {
  let mostExpensive: TokenClass = 'input';
  for (const name of classes)
    if (maxPrice(terms, tokens, name) > maxPrice(terms, tokens, mostExpensive)) mostExpensive = name;
  return { ...NO_TOKENS, input: tokens, [WRITES[mostExpensive] ?? 'input']: tokens };
}

function maxPrice({ pricing, alternatives = [] }: PriceTerms, promptTokens: number, name: TokenClass): bigint {
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

/** The same prompt with another size. */
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
 * Cost of a prompt plus output as a function: the output in its most expensive class and at the most expensive terms.
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
  const ofPrompt = sumOf(costItems(terms.pricing, prompt));
  const output = maxOutputPrice(terms.pricing, prompt.input);
  return (outputTokens) => rounded((ofPrompt + BigInt(outputTokens) * output) * multiplier);
}

function rounded(numerator: bigint): Nanos {
  if (numerator === 0n) return ZERO;
  const halfUp = (2n * numerator + DENOMINATOR) / (2n * DENOMINATOR);
  return nanos(halfUp === 0n ? 1n : halfUp);
}

/** Output tokens that a budget buys on top of a usage, at the most expensive terms; undefined if output is free. */
export function outputTokensFor(terms: PriceTerms, usage: TokenUsage, budget: bigint): number | undefined {
  return [terms, ...(terms.alternatives ?? [])]
    .map((one) => outputByTerms(one, usage, budget))
    .reduce((one, other) => (one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)));
}

function outputByTerms(terms: PriceTerms, usage: TokenUsage, budget: bigint): number | undefined {
  const multiplier = multiplierOf(terms);
  const price = maxOutputPrice(terms.pricing, usage.input) * multiplier;
  if (price === 0n) return undefined;
  const left = budget * DENOMINATOR - sumOf(costItems(terms.pricing, usage)) * multiplier;
  return left <= 0n ? 0 : Number(left / price);
}

/** Output may become text, reasoning or audio: holds use the most expensive price. */
function maxOutputPrice(pricing: Pricing, promptTokens: number): bigint {
  const { output, reasoning, audio_output } = tierFor(pricing, promptTokens).prices;
  const max = output > reasoning ? output : reasoning;
  return max > audio_output ? max : audio_output;
}

/**
 * Prices kept in a row, from which its cost can be recomputed: JSON with decimals as strings. Equal prices give the
 * same string.
 */
export type PriceSnapshot = string;

/** Cached texts by their inputs: few per price version, released with the catalog. */
const made = new WeakMap<Pricing, Map<string, PriceSnapshot>>();

/** @param servedBy the serving model if it is not the requested one */
export function priceSnapshot(
  { pricing, priceVersionId }: Pick<CatalogModel, 'pricing' | 'priceVersionId'>,
  group: string,
  terms: PriceTerms,
  service: Service,
  servedBy = '',
): PriceSnapshot {
  // Service multipliers are part of the pricing, so their names identify them; the group's is not.
  const { tier, speed, geo } = service;
  const name = `${terms.effortMultiplier} ${terms.groupMultiplier} ${tier.name} ${speed.name} ${geo.name} ${servedBy} ${group}`;
  const known = made.get(pricing);
  const found = known?.get(name);
  if (found !== undefined) return found;
  const text = render(priceVersionId, group, terms, service, servedBy);
  if (known === undefined) made.set(pricing, new Map([[name, text]]));
  else known.set(name, text);
  return text;
}

/** Adds the snapshots of other models used by passes, by name. */
export function withPassPrices(snapshot: PriceSnapshot, passes: ReadonlyMap<string, PriceSnapshot>): PriceSnapshot {
  if (passes.size === 0) return snapshot;
  const models = [...passes].map(([model, text]) => `${JSON.stringify(model)}:${text}`).join(',');
  return `${snapshot.slice(0, -1)},"models":{${models}}}`;
}

const render = (
  priceVersionId: string,
  group: string,
  terms: PriceTerms,
  { tier, speed, geo }: Service,
  servedBy: string,
): PriceSnapshot =>
  JSON.stringify({
    price_version: priceVersionId,
    ...(servedBy !== '' && { served_by: servedBy }),
    free: terms.pricing.costsNothing,
    request_fee: formatUsd(terms.pricing.requestFee),
    tiers: terms.pricing.tiers.map(({ fromPromptTokens, prices }) => ({
      from_prompt_tokens: fromPromptTokens,
      ...formatted(prices),
    })),
    ...(terms.pricing.toolFees.size > 0 && { tool_fees: formatted(Object.fromEntries(terms.pricing.toolFees)) }),
    ...(terms.pricing.imageGeneration && { image_generation: formatted(terms.pricing.imageGeneration) }),
    ...(tier.name !== '' && { service_tier: tier.name }),
    service_tier_multiplier: formatMultiplier(tier.multiplier),
    ...(speed.name !== '' && { speed: speed.name, speed_multiplier: formatMultiplier(speed.multiplier) }),
    ...(geo.name !== '' && { geo: geo.name, geo_multiplier: formatMultiplier(geo.multiplier) }),
    effort_multiplier: formatMultiplier(terms.effortMultiplier),
    group,
    group_multiplier: formatMultiplier(terms.groupMultiplier),
  });

const formatted = (prices: Readonly<Record<string, bigint>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, formatUsd(price)]));
