import { createHash } from 'node:crypto';
import type { Secret } from '../../platform/shared/index.js';
import { type Facts, listed, sortedPairs } from '../index.js';
import type { ChannelEntity, StoredCredential } from './channel.entity.js';
import { type Channel, type ChannelTimeouts, costFacts, type CostsDefinition } from './channel.js';

export const DEFAULT_TIMEOUTS: ChannelTimeouts = {
  connectMs: 10_000,
  firstEventMs: 120_000,
  idleMs: 300_000,
  totalMs: 1_800_000,
};

/** An environment variable, a secret to store, the next stored secret, or a specific stored one. */
export type CredentialDefinition =
  { readonly env: string } | { readonly secret: Secret } | 'keep' | { readonly stored: StoredCredential };

/** A channel as administrators define it. */
export type ChannelDefinition = Pick<
  Channel,
  | 'name'
  | 'protocol'
  | 'baseUrl'
  | 'auth'
  | 'query'
  | 'groups'
  | 'tier'
  | 'weight'
  | 'maxConcurrency'
  | 'timeouts'
  | 'headers'
  | 'flags'
> & {
  readonly credentials: readonly CredentialDefinition[];
  readonly models: Readonly<Record<string, readonly string[]>>;
  readonly costs: CostsDefinition;
};

/** Columns of a channel except its ID, state, history and versioned costs. */
export type ChannelColumns = Omit<ChannelEntity, 'id' | 'enabled' | 'createdAt' | 'deletedAt' | 'formerNames'>;

/**
 * Facts of a channel, except credentials (`credentialChanges`). Values of headers and query are hidden, since they may
 * contain secrets.
 */
export const channelFacts = (columns: ChannelColumns & Pick<ChannelDefinition, 'costs'>): Facts => ({
  protocol: columns.protocol,
  base_url: columns.baseUrl,
  auth: columns.auth,
  query: { hidden: sortedPairs(columns.query) },
  models: describeModels(columns.models),
  groups: listed(columns.groups),
  tier: String(columns.tier),
  weight: String(columns.weight),
  max_concurrency: String(columns.maxConcurrency ?? ''),
  connect_ms: String(columns.timeouts.connectMs),
  first_event_ms: String(columns.timeouts.firstEventMs),
  idle_ms: String(columns.timeouts.idleMs),
  total_ms: String(columns.timeouts.totalMs),
  headers: { hidden: sortedPairs(columns.headers) },
  flags: sortedPairs(columns.flags),
  ...costFacts(columns.costs),
});

const describeModels = (models: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(models)
    .map(([name, upstream]) => (upstream.join() === name ? name : `${name} as ${upstream.join(' or ')}`))
    .toSorted()
    .join(', ');

const DIGEST_LENGTH = 12;

/** Identifies whose reasoning signatures a channel accepts. Visible to clients, so it is a hash. */
export function familyOf({ protocol, baseUrl, flags }: Pick<Channel, 'protocol' | 'baseUrl' | 'flags'>): string {
  const { family } = flags;
  if (typeof family === 'string') return family;
  const address = new URL(baseUrl).origin;
  return createHash('sha256').update(`${protocol} ${address}`).digest('hex').slice(0, DIGEST_LENGTH);
}
