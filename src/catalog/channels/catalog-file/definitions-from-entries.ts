import { type Limits, limitsIn, DEFAULT_LIMITED, type DefaultLimits } from '../../../platform/limits/index.js';
import { formatUsd, parseUsd, Secret } from '../../../platform/shared/index.js';
import {
  DEFAULT_GROUP,
  type GroupDefinition,
  type ModelDefinition,
  type PricingDefinition,
  type TierDefinition,
  DEFAULT_HIDDEN_TOKENS_PER_SECOND,
} from '../../index.js';
import { type ChannelDefinition, type CredentialDefinition, DEFAULT_TIMEOUTS } from '../channel-definition.js';
import type { AuthForm, CostDefinition } from '../channel.js';
import { compactCredential } from '../service-account.js';
import type { ChannelEntry, CostEntry } from './channel.dto.js';
import type { GroupEntry, LimitsEntry, DefaultLimitsEntry } from './group.dto.js';
import type { ModelEntry, PricesEntry, TierEntry } from './model.dto.js';

// Converts entries of the file to definitions; missing fields get their documented defaults.

/** Known protocols, and the default auth of each. */
export type DefaultAuth = ReadonlyMap<string, AuthForm>;

/** Normalizes decimals: `0.80` becomes `0.8`. */
const canonical = (decimal: string | null | undefined, otherwise: string): string =>
  formatUsd(parseUsd(decimal ?? otherwise));

export const groupFrom = (entry: GroupEntry): GroupDefinition => ({
  name: entry.name,
  multiplier: canonical(entry.multiplier, '1'),
  models: mapValues(entry.models ?? {}, (multiplier) => canonical(multiplier, '1')),
  description: entry.description ?? '',
  choice: entry.choice ?? 'everyone',
  enabled: entry.enabled ?? true,
  limits: limitsFrom(entry.limits ?? {}),
});

const limitsFrom = (entry: LimitsEntry): Limits =>
  limitsIn({
    requestsPerMinute: entry.requests_per_minute ?? null,
    tokensPerMinute: entry.tokens_per_minute ?? null,
    concurrency: entry.concurrency ?? null,
  });

/** Only kinds that the file contains. */
export const defaultLimitsFrom = (entry: DefaultLimitsEntry): Readonly<Partial<DefaultLimits>> =>
  Object.fromEntries(
    DEFAULT_LIMITED.flatMap((subject) => (entry[subject] ? [[subject, limitsFrom(entry[subject])] as const] : [])),
  );

export const modelFrom = (entry: ModelEntry): ModelDefinition => ({
  name: entry.name,
  displayName: entry.display_name ?? entry.name,
  ownedBy: entry.owned_by ?? '',
  contextWindow: entry.context_window,
  maxOutputTokens: entry.max_output_tokens,
  groups: [...new Set(entry.groups ?? [DEFAULT_GROUP])],
  capabilities: entry.capabilities ?? {},
  hiddenTokensPerSecond: entry.hidden_tokens_per_second ?? DEFAULT_HIDDEN_TOKENS_PER_SECOND,
  enabled: entry.enabled ?? true,
  pricing: pricingFrom(entry),
  validFrom: entry.valid_from ?? undefined,
  upcoming: entry.upcoming?.map((later) => ({ validFrom: later.valid_from, pricing: pricingFrom(later) })),
});

const pricingFrom = (entry: PricesEntry): PricingDefinition => ({
  free: entry.prices === 'free',
  request_fee: canonical(entry.request_fee, '0'),
  effort_multipliers: mapValues(entry.effort_multipliers ?? {}, (multiplier) => canonical(multiplier, '1')),
  ...(entry.service_tiers && { service_tiers: mapValues(entry.service_tiers, (text) => canonical(text, '1')) }),
  ...(entry.speeds && { speeds: mapValues(entry.speeds, (text) => canonical(text, '1')) }),
  ...(entry.geos && { geos: mapValues(entry.geos, (text) => canonical(text, '1')) }),
  ...(entry.tool_fees && { tool_fees: mapValues(entry.tool_fees, (text) => canonical(text, '0')) }),
  ...(entry.tool_max_uses && { tool_max_uses: entry.tool_max_uses }),
  ...(entry.image_generation && {
    image_generation: mapValues(entry.image_generation, (text) => canonical(text, '0')),
  }),
  tiers: entry.prices === 'free' ? [] : entry.prices.map(tierFrom),
});

function tierFrom({ from_prompt_tokens, ...prices }: TierEntry): TierDefinition {
  const own = Object.entries(prices).filter((price): price is [string, string] => typeof price[1] === 'string');
  const written = Object.fromEntries(own.map(([name, price]) => [name, canonical(price, '0')]));
  return {
    ...written,
    from_prompt_tokens: from_prompt_tokens ?? 0,
    input: canonical(prices.input, '0'),
    output: canonical(prices.output, '0'),
  };
}

export const channelFrom = (entry: ChannelEntry, protocols: DefaultAuth): ChannelDefinition => ({
  name: entry.name,
  protocol: entry.protocol,
  baseUrl: entry.base_url.replace(/\/+$/, ''),
  auth: authOf(entry, protocols),
  query: entry.query ?? {},
  credentials: (entry.credentials ?? []).map(credentialFrom),
  models: entry.models,
  costs: Object.fromEntries([...(entry.costs ?? [])].map(([model, cost]) => [model, costFrom(cost)])),
  groups: [...new Set(entry.groups ?? [DEFAULT_GROUP])],
  tier: entry.tier ?? 1,
  weight: entry.weight ?? 100,
  maxConcurrency: entry.max_concurrency ?? undefined,
  timeouts: {
    connectMs: entry.timeouts?.connect_ms ?? DEFAULT_TIMEOUTS.connectMs,
    firstEventMs: entry.timeouts?.first_event_ms ?? DEFAULT_TIMEOUTS.firstEventMs,
    idleMs: entry.timeouts?.idle_ms ?? DEFAULT_TIMEOUTS.idleMs,
    totalMs: entry.timeouts?.total_ms ?? DEFAULT_TIMEOUTS.totalMs,
  },
  headers: Object.fromEntries(Object.entries(entry.headers ?? {}).map(([name, text]) => [name.toLowerCase(), text])),
  flags: entry.flags ?? {},
});

function costFrom(cost: string | CostEntry | readonly CostEntry[]): CostDefinition {
  if (typeof cost === 'string') return { share: canonical(cost, '1') };
  const tiers = 'input' in cost ? [cost] : cost;
  return {
    prices: {
      free: false,
      request_fee: canonical(tiers[0]?.request_fee, '0'),
      effort_multipliers: {},
      tool_fees: mapValues(tiers[0]?.tool_fees ?? {}, (text) => canonical(text, '0')),
      ...(tiers[0]?.image_generation && {
        image_generation: mapValues(tiers[0].image_generation, (text) => canonical(text, '0')),
      }),
      tiers: tiers.map(withoutFees).map(tierFrom),
    },
  };
}

function withoutFees(entry: CostEntry): TierEntry {
  const { request_fee: _, tool_fees: __, image_generation: ___, ...tier } = entry;
  return tier;
}

/** Unknown protocols are reported separately; here they count as using bearer tokens. */
export const authOf = ({ auth, protocol }: ChannelEntry, protocols: DefaultAuth): AuthForm =>
  auth ?? protocols.get(protocol) ?? 'bearer';

/** The variable named by `env:NAME`. */
export const variableOf = (credential: string): string | undefined =>
  credential.startsWith('env:') ? credential.slice('env:'.length) : undefined;

export function credentialFrom(credential: string): CredentialDefinition {
  if (credential === '***') return 'keep';
  const env = variableOf(credential);
  return env === undefined ? { secret: new Secret(compactCredential(credential)) } : { env };
}

const mapValues = <From, To>(values: Readonly<Record<string, From>>, to: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));
