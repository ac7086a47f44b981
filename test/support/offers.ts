import type { ProtocolId } from '../../src/protocols/contract/index.js';
import { type CatalogGroup, type CatalogModel, FREE_PRICING, type OfferedModel } from '../../src/catalog/index.js';
import { protocolEndpoints } from '../../src/console/home/endpoints.js';

/** As the registry has them, in no order. */
export const PROTOCOLS = protocolEndpoints([
  { id: 'messages', callPaths: ['/v1/messages'] },
  { id: 'chat-completions', callPaths: ['/v1/chat/completions'] },
  { id: 'responses', callPaths: ['/v1/responses'] },
]);

export const aGroup = (overrides: Partial<CatalogGroup> = {}): CatalogGroup => ({
  name: 'default',
  multiplier: 1_000_000n,
  modelMultipliers: new Map(),
  choice: 'everyone',
  description: '',
  limits: {},
  ...overrides,
});

/** A model whose channels speak these protocols; it costs nothing unless its prices are given. */
export const anOffer = (
  overrides: Partial<CatalogModel> = {},
  protocols: readonly ProtocolId[] = ['chat-completions', 'messages', 'responses'],
  translates = true,
): OfferedModel => ({
  protocols,
  translates,
  model: {
    name: 'm',
    displayName: overrides.name ?? 'm',
    ownedBy: 'acme',
    contextWindow: 200_000,
    maxOutputTokens: 8000,
    groups: ['default'],
    capabilities: {},
    hiddenTokensPerSecond: 0,
    enabled: true,
    createdAt: 0,
    pricing: FREE_PRICING,
    priceVersionId: 'prc_1',
    pricesSince: 0,
    ...overrides,
  },
});
