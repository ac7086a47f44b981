import {
  IMAGE_GENERATION_CLASSES,
  parsePricing,
  type Pricing,
  type PricingDefinition,
} from '../../../catalog/index.js';
import { parseUsd } from '../../../platform/shared/index.js';
import { count, price, times } from '../../../platform/format/index.js';
import { TOKEN_FIELDS } from './model-fields.js';

/** Everything that prices say, each by a name for people: `output` is `$15.00`. */
export type PriceItems = ReadonlyMap<string, string>;

/** What stands at its default is left out. */
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
  ...(pricing.requestFee > 0n ? [['each call', price(pricing.requestFee)] as const] : []),
  ...[...pricing.toolFees].map(([tool, fee]) => [`each use of ${tool}`, price(fee)] as const),
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
  /** Undefined where it was not said. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isChanged: boolean;
}

/** All that either of two versions says, side by side. */
export function comparedItems(before: PricingDefinition, after: PricingDefinition): readonly ComparedItem[] {
  const [then, now] = [priceItems(before), priceItems(after)];
  return [...new Set([...now.keys(), ...then.keys()])].map((name) => ({
    name,
    before: then.get(name),
    after: now.get(name),
    isChanged: then.get(name) !== now.get(name),
  }));
}

/** So many changes are told; of more it is told how many they are. */
const TOLD = 2;

/** What a version changed, in words: `output $15.00, was $16.00`. */
export function changeWords(before: PricingDefinition | undefined, after: PricingDefinition): string {
  if (before === undefined) return 'first prices';
  const changed = comparedItems(before, after).filter(({ isChanged }) => isChanged);
  if (changed.length === 0) return 'the same prices';
  const told = changed.slice(0, TOLD).map(wordsOf).join('; ');
  return changed.length > TOLD ? `${told}; and ${changed.length - TOLD} more` : told;
}

function wordsOf({ name, before, after }: ComparedItem): string {
  if (after === undefined) return `${name} no longer said, was ${before ?? '–'}`;
  return before === undefined ? `${name} ${after}, new` : `${name} ${after}, was ${before}`;
}
