import { type Limits, renderLimits, DEFAULT_LIMITED, type DefaultLimits } from '../../../platform/limits/index.js';
import { formatUsd, parseUsd } from '../../../platform/shared/index.js';
import {
  type Flags,
  type GroupDefinition,
  type ModelDefinition,
  type PricingDefinition,
  DEFAULT_HIDDEN_TOKENS_PER_SECOND,
} from '../../index.js';
import type { ChannelEntity } from '../channel.entity.js';
import type { CostDefinition } from '../channel.js';
import type { StoredChannel } from '../channel.repository.js';
import { Numeral } from './fields.js';

// Converts definitions to entries of the catalog file; most defaults are left out.

/** As in the catalog file. */
export type CatalogEntry = Readonly<Record<string, unknown>>;

export const groupEntry = ({
  name,
  multiplier,
  models,
  description,
  choice,
  enabled,
  limits,
}: GroupDefinition): CatalogEntry => ({
  name,
  multiplier: decimal(multiplier),
  ...given('models', mapped(models, decimal)),
  ...given('description', description),
  ...(choice === 'everyone' ? {} : { choice }),
  ...(enabled ? {} : { enabled }),
  ...given('limits', limitsEntry(limits)),
});

/** Only kinds that have limits. */
export const defaultLimitsEntry = (defaults: DefaultLimits): CatalogEntry =>
  Object.assign(
    {},
    ...DEFAULT_LIMITED.map((subject) => given(subject, limitsEntry(defaults[subject]))),
  ) as CatalogEntry;

const limitsEntry = (limits: Limits): CatalogEntry =>
  Object.fromEntries(Object.entries(renderLimits(limits)).filter(([, limit]) => limit !== null));

export const modelEntry = (model: ModelDefinition): CatalogEntry => ({
  name: model.name,
  display_name: model.displayName,
  owned_by: model.ownedBy,
  context_window: model.contextWindow,
  max_output_tokens: model.maxOutputTokens,
  groups: model.groups,
  ...given('capabilities', capabilities(model.capabilities)),
  ...(model.hiddenTokensPerSecond === DEFAULT_HIDDEN_TOKENS_PER_SECOND
    ? {}
    : { hidden_tokens_per_second: model.hiddenTokensPerSecond }),
  ...(model.enabled ? {} : { enabled: false }),
  ...(model.validFrom === undefined ? {} : { valid_from: model.validFrom.toISOString() }),
  ...pricesEntry(model.pricing),
  ...given(
    'upcoming',
    (model.upcoming ?? []).map(({ validFrom, pricing }) => ({
      valid_from: validFrom.toISOString(),
      ...pricesEntry(pricing),
    })),
  ),
});

const pricesEntry = (pricing: PricingDefinition): CatalogEntry => ({
  ...given('effort_multipliers', mapped(pricing.effort_multipliers, decimal)),
  ...given('service_tiers', mapped(pricing.service_tiers ?? {}, decimal)),
  ...given('speeds', mapped(pricing.speeds ?? {}, decimal)),
  ...given('geos', mapped(pricing.geos ?? {}, decimal)),
  ...given('tool_fees', mapped(pricing.tool_fees ?? {}, decimal)),
  ...given('tool_max_uses', pricing.tool_max_uses ?? {}),
  ...given('image_generation', mapped(pricing.image_generation ?? {}, decimal)),
  ...(pricing.request_fee === '0' ? {} : { request_fee: decimal(pricing.request_fee) }),
  prices: pricing.free ? 'free' : pricing.tiers.map(tierEntry),
});

const tierEntry = ({ from_prompt_tokens, ...prices }: PricingDefinition['tiers'][number]): CatalogEntry => ({
  from_prompt_tokens,
  ...mapped(prices, decimal),
});

export const channelEntry = (channel: StoredChannel, credentials: readonly string[]): CatalogEntry => ({
  name: channel.name,
  protocol: channel.protocol,
  base_url: channel.baseUrl,
  auth: channel.auth,
  ...given('query', channel.query),
  ...given('credentials', credentials),
  models: modelNames(channel.models),
  groups: channel.groups,
  tier: channel.tier,
  weight: channel.weight,
  ...(channel.maxConcurrency === null ? {} : { max_concurrency: channel.maxConcurrency }),
  ...given('costs', costEntries(channel.costs)),
  timeouts: {
    connect_ms: channel.timeouts.connectMs,
    first_event_ms: channel.timeouts.firstEventMs,
    idle_ms: channel.timeouts.idleMs,
    total_ms: channel.timeouts.totalMs,
  },
  ...given('headers', channel.headers),
  ...given('flags', channel.flags),
});

function modelNames(models: ChannelEntity['models']): unknown {
  const names = Object.keys(models).toSorted();
  if (names.every((name) => models[name]?.join() === name)) return names;
  return Object.fromEntries(names.map((name) => [name, models[name]?.length === 1 ? models[name][0] : models[name]]));
}

const costEntries = (costs: StoredChannel['costs']): CatalogEntry =>
  Object.fromEntries(
    Object.entries(costs)
      .map(([model, cost]): [string, unknown] => [model, costEntry(cost)])
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

function costEntry(cost: CostDefinition): unknown {
  if ('share' in cost) return decimal(cost.share);
  const { request_fee, tool_fees = {}, image_generation = {}, tiers } = cost.prices;
  const fees = {
    ...(request_fee === '0' ? {} : { request_fee: decimal(request_fee) }),
    ...given('tool_fees', mapped(tool_fees, decimal)),
    ...given('image_generation', mapped(image_generation, decimal)),
  };
  const [first = {}, ...others] = tiers.map(tierEntry);
  if (others.length > 0) return [{ ...first, ...fees }, ...others];
  const { from_prompt_tokens: _, ...prices } = first;
  return { ...prices, ...fees };
}

const capabilities = (flags: Flags): unknown[] =>
  Object.keys(flags)
    .toSorted()
    .map((name) => (flags[name] === true ? name : { [name]: flags[name] }));

const decimal = (text: string): Numeral => new Numeral(formatUsd(parseUsd(text)));

const mapped = (values: Readonly<Record<string, string>>, to: (value: string) => unknown): CatalogEntry =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));

/** The field unless it is empty. */
const given = (name: string, value: object | string): CatalogEntry =>
  (typeof value === 'string' ? value : Object.keys(value)).length === 0 ? {} : { [name]: value };
