import {
  IMAGE_GENERATION_CLASSES,
  parsePricing,
  type Pricing,
  type PricingDefinition,
} from '../../../catalog/index.js';
import { parseUsd } from '../../../platform/shared/index.js';
import { count, price, times } from '../../../platform/format/index.js';
import { TOKEN_FIELDS } from './model-fields.js';

/** Prices by label: `output` is `$15.00`. */
export type PriceItems = ReadonlyMap<string, string>;

/** Omits defaults. */
export function priceItems(definition: PricingDefinition): PriceItems {
  const pricing = parsePricing(definition);
  return new Map([...(definition.free ? [['tokens', 'free'] as const] : tokenItems(definition)), ...besides(pricing)]);
}

const tokenItems = ({ tiers }: PricingDefinition): (readonly [string, string])[] =>
  tiers.flatMap(({ from_prompt_tokens: from, ...prices }) =>
    TOKEN_FIELDS.flatMap(({ name, label }) => {
      const text = prices[name];
      if (text === undefined) return [];
      const words = label.charAt(0).toLowerCase() + label.slice(1);
      return [[from === 0 ? words : `${words} from ${count(from)} tokens`, price(parseUsd(text))] as const];
    }),
  );

const besides = (pricing: Pricing): (readonly [string, string])[] => [
  ...(pricing.requestFee > 0n ? [['fee per call', price(pricing.requestFee)] as const] : []),
  ...[...pricing.toolFees].map(([tool, fee]) => [`fee per use of ${tool}`, price(fee)] as const),
  ...[...pricing.toolMaxUses].map(([tool, most]) => [`max uses of ${tool}`, count(most)] as const),
  ...imageItems(pricing),
  ...[...pricing.effortMultipliers].map(([effort, by]) => [`effort ${effort}`, times(by)] as const),
  ...[...pricing.serviceTiers].map(([tier, by]) => [`service tier ${tier}`, times(by)] as const),
  ...[...pricing.speeds].map(([speed, by]) => [`speed ${speed}`, times(by)] as const),
  ...[...pricing.geos].map(([geo, by]) => [`region ${geo}`, times(by)] as const),
];

const imageItems = ({ imageGeneration: prices }: Pricing): (readonly [string, string])[] =>
  prices === undefined
    ? []
    : IMAGE_GENERATION_CLASSES.map((name) => [`image generation ${name.replace('_', ' ')}`, price(prices[name])]);

interface ComparedItem {
  readonly name: string;
  /** Undefined if not set. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isChanged: boolean;
}

/** Compares all items of two versions. */
export function comparedItems(before: PricingDefinition, after: PricingDefinition): readonly ComparedItem[] {
  const [then, now] = [priceItems(before), priceItems(after)];
  return [...new Set([...now.keys(), ...then.keys()])].map((name) => ({
    name,
    before: then.get(name),
    after: now.get(name),
    isChanged: then.get(name) !== now.get(name),
  }));
}

/** Number of changes listed; further ones are counted. */
const MAX_REPORTED = 2;

/** Describes the changes of a version: `output $16.00 → $15.00`. */
export function changeText(before: PricingDefinition | undefined, after: PricingDefinition): string {
  if (before === undefined) return 'initial prices';
  const changed = comparedItems(before, after).filter(({ isChanged }) => isChanged);
  if (changed.length === 0) return 'no price changes';
  const reported = changed.slice(0, MAX_REPORTED).map(wordsOf).join('; ');
  return changed.length > MAX_REPORTED ? `${reported}; and ${changed.length - MAX_REPORTED} more` : reported;
}

const wordsOf = ({ name, before, after }: ComparedItem): string => `${name} ${before ?? '–'} → ${after ?? '–'}`;
