import { createHash } from 'node:crypto';
import type { Secret } from '../../platform/shared/index.js';
import { type Facts, listed, sortedPairs } from '../index.js';
import { costFacts, type CostsDefinition } from './channel-costs.js';
import type { ChannelEntity, StoredCredential } from './channel.entity.js';
import type { Channel, ChannelTimeouts } from './channel.js';

export const DEFAULT_TIMEOUTS: ChannelTimeouts = {
  connectMs: 10_000,
  firstEventMs: 120_000,
  idleMs: 300_000,
  totalMs: 1_800_000,
};

/**
 * A variable of the server's environment, a secret to be stored, the next one that is stored already, or a certain one of
 * these.
 */
export type CredentialDefinition =
  { readonly env: string } | { readonly secret: Secret } | 'keep' | { readonly stored: StoredCredential };

/** A channel as the operator defines it. */
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

/** What is stored of a channel apart from its id, state and history, and from its costs, which have versions. */
export type ChannelColumns = Omit<ChannelEntity, 'id' | 'enabled' | 'createdAt' | 'deletedAt' | 'formerNames'>;

/**
 * What a change of a channel is told by, but for its credentials (`credentialChanges`). Headers and query may carry secrets,
 * so their values are never told.
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

/** Whose reasoning a channel can read. Clients carry it about, so that it must not say where the upstream is. */
export function familyOf({ protocol, baseUrl, flags }: Pick<Channel, 'protocol' | 'baseUrl' | 'flags'>): string {
  const { family } = flags;
  if (typeof family === 'string') return family;
  const address = new URL(baseUrl).origin;
  return createHash('sha256').update(`${protocol} ${address}`).digest('hex').slice(0, DIGEST_LENGTH);
}
