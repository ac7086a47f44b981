import { formatUsd, type Nanos, parseUsd, ZERO } from '../platform/shared/index.js';

/** The kinds of tokens that can have a price of their own. Counts of a call are disjoint over them. */
const TOKEN_CLASSES = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'cache_write_12h',
  'output',
  'reasoning',
  'image_input',
  'audio_input',
  'audio_output',
] as const;
export type TokenClass = (typeof TOKEN_CLASSES)[number];

/** The class whose price a class has when a tier does not price it itself. */
const PRICED_AS: Readonly<Record<Exclude<TokenClass, 'input' | 'output'>, TokenClass>> = {
  cache_read: 'input',
  cache_write_5m: 'input',
  cache_write_1h: 'cache_write_5m',
  cache_write_12h: 'cache_write_1h',
  reasoning: 'output',
  image_input: 'input',
  audio_input: 'input',
  audio_output: 'output',
};

/** Tokens of images that a hosted tool generates: a model of their own reads and writes them, at prices of its own. */
export const IMAGE_GENERATION_CLASSES = ['text_input', 'image_input', 'text_output', 'image_output'] as const;
export type ImageGenerationClass = (typeof IMAGE_GENERATION_CLASSES)[number];
/** Those that must be priced where any is; the others cost the same as the other input or output. */
export const REQUIRED_IMAGE_CLASSES: readonly ImageGenerationClass[] = ['text_input', 'image_output'];

/** Nano-dollars per one million tokens of each class: $1.25 is 1_250_000_000n. */
type TierPrices = Readonly<Record<TokenClass, bigint>>;

export interface PriceTier {
  /** The tier prices whole calls whose prompt has this many tokens or more, cached ones included. */
  readonly fromPromptTokens: number;
  readonly prices: TierPrices;
}

/** What a model costs, exactly. */
export interface Pricing {
  /** Nothing is charged at all: the catalog says `prices: free`, and no fee. */
  readonly costsNothing: boolean;
  /** For each call. */
  readonly requestFee: Nanos;
  /** Millionths, by reasoning effort; an effort that is not here counts as 1_000_000n. */
  readonly effortMultipliers: ReadonlyMap<string, bigint>;
  /** Millionths, by the service tiers that may be asked for beside the usual one, which counts as 1_000_000n. */
  readonly serviceTiers: ReadonlyMap<string, bigint>;
  /** Millionths, by the speeds (`fast`) and inference regions (`us`) that may be asked for beside the standard ones. */
  readonly speeds: ReadonlyMap<string, bigint>;
  readonly geos: ReadonlyMap<string, bigint>;
  /** Uses to hold fees for where the client sets no limit, by tool. */
  readonly toolMaxUses: ReadonlyMap<string, number>;
  /** For each use of a tool that the upstream runs, by its name; one that is not here may not be asked for. */
  readonly toolFees: ReadonlyMap<string, Nanos>;
  /** Nano-dollars per one million tokens of each class; undefined: the image tool has no price for its tokens. */
  readonly imageGeneration: Readonly<Record<ImageGenerationClass, bigint>> | undefined;
  /** At least one, ascending; the first begins at 0. */
  readonly tiers: readonly PriceTier[];
}

/** Prices as they are written and stored: US dollars per one million tokens as plain decimals. */
export type TierDefinition = {
  readonly from_prompt_tokens: number;
  readonly input: string;
  readonly output: string;
} & {
  readonly [tokens in Exclude<TokenClass, 'input' | 'output'>]?: string;
};

export interface PricingDefinition {
  /** Tokens cost nothing; fees are charged even so. */
  readonly free: boolean;
  readonly request_fee: string;
  readonly effort_multipliers: Readonly<Record<string, string>>;
  /** Absent where there are none, as in versions that were stored before they existed. */
  readonly service_tiers?: Readonly<Record<string, string>>;
  /** US dollars a use; absent likewise. */
  readonly tool_fees?: Readonly<Record<string, string>>;
  /** Absent likewise. */
  readonly speeds?: Readonly<Record<string, string>>;
  readonly geos?: Readonly<Record<string, string>>;
  readonly tool_max_uses?: Readonly<Record<string, number>>;
  /** US dollars per one million tokens that the hosted image tool uses. */
  readonly image_generation?: Readonly<Record<string, string>>;
  /** Empty when free. */
  readonly tiers: readonly TierDefinition[];
}

const MILLIONTH = 1_000n;
const ONE = 1_000_000n;
const FREE_TIER: TierDefinition = { from_prompt_tokens: 0, input: '0', output: '0' };

/**
 * Reads a multiplier into millionths: `0.8` is 800_000n.
 * @throws RangeError when it is no plain decimal from 0 to under a million with at most 6 digits after the point
 */
export function parseMultiplier(text: string): bigint {
  const amount = parseUsd(text);
  const multiplier = amount / MILLIONTH;
  if (amount < 0n || amount % MILLIONTH !== 0n || multiplier >= ONE * ONE)
    throw new RangeError(`"${text}" is not a valid multiplier. Use a plain decimal with at most 6 decimal places.`);
  return multiplier;
}

/** `800_000n` as `0.8`. */
export const formatMultiplier = (millionths: bigint): string => formatUsd(millionths * MILLIONTH);

/** @throws RangeError naming the number that is no plain decimal */
export function parsePricing(definition: PricingDefinition): Pricing {
  const tiers = definition.free ? [FREE_TIER] : definition.tiers;
  const requestFee = parseUsd(definition.request_fee);
  const toolFees = parsedEach(definition.tool_fees, parseUsd);
  const imageGeneration = imagePrices(definition.image_generation);
  const beside = [requestFee, ...toolFees.values(), ...Object.values(imageGeneration ?? {})];
  return {
    costsNothing: definition.free && beside.every((price) => price === ZERO),
    requestFee,
    effortMultipliers: parsedEach(definition.effort_multipliers, parseMultiplier),
    serviceTiers: parsedEach(definition.service_tiers, parseMultiplier),
    speeds: parsedEach(definition.speeds, parseMultiplier),
    geos: parsedEach(definition.geos, parseMultiplier),
    toolMaxUses: new Map(Object.entries(definition.tool_max_uses ?? {})),
    toolFees,
    imageGeneration,
    tiers: tiers.map((tier) => ({ fromPromptTokens: tier.from_prompt_tokens, prices: parsePrices(tier) })),
  };
}

const parsedEach = <Value>(
  texts: Readonly<Record<string, string>> | undefined,
  parse: (text: string) => Value,
): ReadonlyMap<string, Value> => new Map(Object.entries(texts ?? {}).map(([name, text]) => [name, parse(text)]));

function imagePrices(texts: PricingDefinition['image_generation']): Pricing['imageGeneration'] {
  if (texts === undefined) return undefined;
  const own = (name: ImageGenerationClass, otherwise: ImageGenerationClass): bigint =>
    parseUsd(texts[name] ?? texts[otherwise] ?? '0');
  return {
    text_input: own('text_input', 'image_input'),
    image_input: own('image_input', 'text_input'),
    text_output: own('text_output', 'image_output'),
    image_output: own('image_output', 'text_output'),
  };
}

function parsePrices(tier: TierDefinition): TierPrices {
  const own = (text: string | undefined, otherwise: bigint): bigint =>
    text === undefined ? otherwise : parseUsd(text);
  const input = parseUsd(tier.input);
  const output = parseUsd(tier.output);
  const cacheWrite5m = own(tier.cache_write_5m, input);
  const cacheWrite1h = own(tier.cache_write_1h, cacheWrite5m);
  return {
    input,
    cache_read: own(tier.cache_read, input),
    cache_write_5m: cacheWrite5m,
    cache_write_1h: cacheWrite1h,
    cache_write_12h: own(tier.cache_write_12h, cacheWrite1h),
    output,
    reasoning: own(tier.reasoning, output),
    image_input: own(tier.image_input, input),
    audio_input: own(tier.audio_input, input),
    audio_output: own(tier.audio_output, output),
  };
}

/** Prices of a model that costs nothing. */
export const FREE_PRICING: Pricing = parsePricing({ free: true, request_fee: '0', effort_multipliers: {}, tiers: [] });

/**
 * The prices in one line for people. Two pricings that charge the same are the same text, however they were written:
 * what stands at its default is left out.
 */
export function describePricing(pricing: Pricing): string {
  const multipliers = [...pricing.effortMultipliers]
    .filter(([, multiplier]) => multiplier !== ONE)
    .map(([effort, multiplier]) => `effort ${effort} × ${formatMultiplier(multiplier)}`)
    .toSorted();
  // A tier at 1 is more than none: it may be asked for. So is a tool for nothing.
  const services = [
    ...describedEach('tier', pricing.serviceTiers),
    ...describedEach('speed', pricing.speeds),
    ...describedEach('geo', pricing.geos),
  ];
  const tools = [...pricing.toolFees].map(([tool, fee]) => `${tool} ${formatUsd(fee)}`);
  const uses = [...pricing.toolMaxUses].map(([tool, most]) => `at most ${most} ${tool}`);
  const fee = pricing.requestFee === ZERO ? [] : [`request_fee ${formatUsd(pricing.requestFee)}`];
  const tokens = pricing.costsNothing ? ['free'] : pricing.tiers.map(describeTier);
  const besides = [...fee, ...tools.toSorted(), ...uses.toSorted(), ...describeImages(pricing)];
  return [...tokens, ...besides, ...multipliers, ...services.toSorted()].join('; ');
}

const describedEach = (kind: string, multipliers: ReadonlyMap<string, bigint>): readonly string[] =>
  [...multipliers].map(([name, multiplier]) => `${kind} ${name} × ${formatMultiplier(multiplier)}`);

function describeImages({ imageGeneration: prices }: Pricing): readonly string[] {
  if (prices === undefined) return [];
  const each = IMAGE_GENERATION_CLASSES.map((name) => `${name} ${formatUsd(prices[name])}`);
  return [`image_generation ${each.join(', ')}`];
}

function describeTier({ fromPromptTokens, prices }: PriceTier): string {
  const own = TOKEN_CLASSES.filter((name) => {
    return name === 'input' || name === 'output' || prices[name] !== prices[PRICED_AS[name]];
  });
  const text = own.map((name) => `${name} ${formatUsd(prices[name])}`).join(', ');
  return fromPromptTokens === 0 ? text : `from ${fromPromptTokens} prompt tokens ${text}`;
}
