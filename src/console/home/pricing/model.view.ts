import {
  type CatalogGroup,
  type CatalogModel,
  IMAGE_GENERATION_CLASSES,
  type OfferedModel,
  type Pricing,
  type PriceTier,
  type TokenClass,
} from '../../../catalog/index.js';
import { exactUsd, times } from '../../../platform/format/index.js';
import { highlighted, sampleCall } from '../../web/index.js';
import { type Endpoint, endpointsOf, multiplierFor, type ProtocolEndpoint } from '../endpoints.js';
import { modelAddress, scaled, scaledPrice } from './pricing.view.js';

interface ModelOffer {
  /** Groups in which the viewer may call the model; not empty. */
  readonly groups: readonly { readonly group: CatalogGroup; readonly offered: OfferedModel }[];
  /** Name of the group whose prices are shown; default: the first. */
  readonly shown: string;
  readonly protocols: readonly ProtocolEndpoint[];
  readonly base: string;
  readonly upcoming: readonly { readonly at: number; readonly model: CatalogModel }[];
}

const TOKENS: readonly (readonly [item: TokenClass, label: string])[] = [
  ['input', 'Input'],
  ['cache_read', 'Input read from cache'],
  ['cache_write_5m', 'Input written to cache, 5 minutes'],
  ['cache_write_1h', 'Input written to cache, 1 hour'],
  ['cache_write_12h', 'Input written to cache, 12 hours'],
  ['image_input', 'Image input'],
  ['audio_input', 'Audio input'],
  ['output', 'Output'],
  ['reasoning', 'Reasoning'],
  ['audio_output', 'Audio output'],
];

export function modelView({ groups, shown, protocols, base, upcoming }: ModelOffer) {
  const current = groups.find(({ group }) => group.name === shown) ?? groups[0];
  if (current === undefined) throw new RangeError('The model is not offered in any group.');
  const { group, offered } = current;
  const { model } = offered;
  const endpoints = endpointsOf(offered, protocols);
  return {
    name: model.name,
    playground: `/playground?model=${encodeURIComponent(model.name)}`,
    title: model.displayName === model.name ? undefined : model.displayName,
    provider: model.ownedBy,
    description: `Prices, context window, endpoints and capabilities of ${model.name}, with sample calls.`,
    contextWindow: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
    endpoints,
    translates: endpoints.some(({ translated }) => translated),
    capabilities: capabilities(model),
    group: group.name,
    multiplier: times(multiplierFor(group, model.name)),
    free: model.pricing.costsNothing,
    prices: priceTable(model, multiplierFor(group, model.name)),
    example: exampleCost(model.pricing, multiplierFor(group, model.name)),
    extras: extras(model.pricing, multiplierFor(group, model.name)),
    groups: groups.map((one) => groupRow(one.group, one.offered, one.group.name === group.name)),
    samples: samples(endpoints, model.name, base),
    since: new Date(model.pricesSince),
    upcoming: upcoming.map((next) => ({
      at: new Date(next.at),
      text: changeText(next.model.pricing, multiplierFor(group, model.name)),
    })),
  };
}

/** Items that not every model has: what they cost without a price of their own, and the capability that shows them. */
const SPECIAL: Readonly<Partial<Record<TokenClass, { readonly priced: TokenClass; readonly capability?: string }>>> = {
  image_input: { priced: 'input', capability: 'vision' },
  audio_input: { priced: 'input', capability: 'audio' },
  audio_output: { priced: 'output', capability: 'audio' },
  reasoning: { priced: 'output', capability: 'reasoning' },
};
const CACHE_WRITES: readonly TokenClass[] = ['cache_write_5m', 'cache_write_1h', 'cache_write_12h'];

/** Whether the model can do it, as far as its capabilities and prices tell. */
function isPriced(item: TokenClass, { capabilities: flags, pricing: { tiers } }: CatalogModel): boolean {
  const differs = (one: TokenClass, other: TokenClass): boolean =>
    tiers.some(({ prices }) => prices[one] !== prices[other]);
  if (CACHE_WRITES.includes(item)) return CACHE_WRITES.some((write) => differs(write, 'input'));
  const special = SPECIAL[item];
  if (special === undefined) return true;
  const { priced, capability = '' } = special;
  return (flags[capability] ?? false) !== false || differs(item, priced);
}

function priceTable(model: CatalogModel, multiplier: bigint) {
  const { tiers } = model.pricing;
  return {
    columns: tiers.map(({ fromPromptTokens }, index) => ({ from: fromPromptTokens, to: maxPrompt(tiers, index) })),
    hasTiers: tiers.length > 1,
    rows: TOKENS.filter(([item]) => isPriced(item, model)).map(([item, label]) => ({
      label,
      cells: tiers.map(({ prices }) => scaledPrice(scaled(prices[item], multiplier))),
    })),
  };
}

const EXAMPLE = { input: 10_000, output: 1_000 };
const PER_MILLION = 1_000_000n;

/** The charge for a typical call, rounded as a call is; undefined if it costs nothing. */
function exampleCost({ tiers, requestFee }: Pricing, multiplier: bigint) {
  const prices = tiers.findLast(({ fromPromptTokens }) => fromPromptTokens <= EXAMPLE.input)?.prices;
  if (prices === undefined) return undefined;
  const tokens = prices.input * BigInt(EXAMPLE.input) + prices.output * BigInt(EXAMPLE.output);
  const divisor = PER_MILLION * PER_MILLION;
  const cost = (scaled(tokens + requestFee * PER_MILLION, multiplier) + divisor / 2n) / divisor;
  return cost === 0n ? undefined : { ...EXAMPLE, cost: exactUsd(cost) };
}

/** `input $1 (long prompts $2), output $5 (long prompts $7).` */
function changeText({ costsNothing, tiers }: Pricing, multiplier: bigint): string {
  if (costsNothing) return 'no charge for tokens.';
  const items = (['input', 'output'] as const).map((item) => {
    const [first, ...longer] = tiers.map(({ prices }) => scaledPrice(scaled(prices[item], multiplier)));
    return `${item} ${first ?? ''}${longer.length > 0 ? ` (long prompts ${longer.join(' / ')})` : ''}`;
  });
  return `${items.join(', ')}.`;
}

/** Undefined for the last tier. */
function maxPrompt(tiers: readonly PriceTier[], index: number): number | undefined {
  const next = tiers[index + 1];
  return next && next.fromPromptTokens - 1;
}

/** Fees, and multipliers other than the group's. */
function extras(pricing: Pricing, multiplier: bigint) {
  const fee = (nanos: bigint): string => scaledPrice(scaled(nanos, multiplier));
  return [
    ...(pricing.requestFee > 0n ? [{ label: 'Fee per call', value: fee(pricing.requestFee) }] : []),
    ...[...pricing.toolFees].map(([tool, nanos]) => ({ label: `Per use of ${tool}`, value: fee(nanos) })),
    ...imagePrices(pricing, multiplier),
    ...[...pricing.effortMultipliers].map(([name, by]) => ({ label: `Effort “${name}”`, value: times(by) })),
    ...[...pricing.serviceTiers].map(([name, by]) => ({ label: `Service tier “${name}”`, value: times(by) })),
    ...[...pricing.speeds].map(([name, by]) => ({ label: `Speed “${name}”`, value: times(by) })),
    ...[...pricing.geos].map(([name, by]) => ({ label: `Region “${name}”`, value: times(by) })),
  ];
}

const imagePrices = ({ imageGeneration: prices }: Pricing, multiplier: bigint) =>
  prices === undefined
    ? []
    : IMAGE_GENERATION_CLASSES.map((name) => ({
        label: `Image generation: ${name.replace('_', ' ')}, per 1M tokens`,
        value: scaledPrice(scaled(prices[name], multiplier)),
      }));

function groupRow(group: CatalogGroup, { model }: OfferedModel, isShown: boolean) {
  const multiplier = multiplierFor(group, model.name);
  const first = model.pricing.tiers[0]?.prices;
  return {
    name: group.name,
    href: modelAddress(model.name, group.name),
    isShown,
    description: group.description,
    multiplier: times(multiplier),
    input: scaledPrice(scaled(first?.input ?? 0n, multiplier)),
    output: scaledPrice(scaled(first?.output ?? 0n, multiplier)),
  };
}

/** `vision`, `stopMax: 4`; omits false flags. */
const capabilities = ({ capabilities: flags }: CatalogModel): string[] =>
  Object.entries(flags)
    .filter(([, value]) => value !== false)
    .map(([name, value]) => (value === true ? name : `${name}: ${[value].flat().join(', ')}`))
    .toSorted();

/** A sample call for each protocol; the first is expanded. */
const samples = (endpoints: readonly Endpoint[], model: string, base: string) =>
  endpoints.flatMap(({ id, name }, index) => {
    const code = sampleCall(id, model, base);
    return code === undefined ? [] : [{ name, code: highlighted(code, 'shell'), isOpen: index === 0 }];
  });
