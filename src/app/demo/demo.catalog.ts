import { type FallbackModel, parsePricing } from '../../catalog/index.js';
import { DEFAULT_TIMEOUTS, type FallbackChannel } from '../../catalog/channels/index.js';
import { DEMO_MODEL } from './demo.routes.js';

const DEMO_PROTOCOLS = ['chat-completions', 'messages', 'responses'] as const;

/** The demo model costs a little, so that a first call shows what a real one will: held, charged, logged. */
export const demoModel = (createdAt: number): FallbackModel => ({
  name: DEMO_MODEL,
  displayName: 'Built-in demo model',
  ownedBy: 'switchboard',
  contextWindow: 32_000,
  maxOutputTokens: 4096,
  capabilities: {},
  hiddenTokensPerSecond: 0,
  enabled: true,
  createdAt,
  pricing: parsePricing({
    free: false,
    request_fee: '0',
    effort_multipliers: {},
    tiers: [{ from_prompt_tokens: 0, input: '1', output: '4' }],
  }),
  priceVersionId: 'demo',
  pricesSince: createdAt,
});

/** One channel for each dialect, all to the same upstream on loopback. */
export const demoChannels = (baseUrl: string): readonly FallbackChannel[] =>
  DEMO_PROTOCOLS.map((protocol) => ({
    id: `demo-${protocol}`,
    name: `demo-${protocol}`,
    protocol,
    baseUrl,
    auth: 'none',
    query: {},
    models: new Map([[DEMO_MODEL, [DEMO_MODEL]]]),
    tier: 1,
    weight: 100,
    maxConcurrency: undefined,
    timeouts: DEFAULT_TIMEOUTS,
    headers: {},
    flags: {},
    credentials: [],
    costs: new Map(),
    family: 'demo',
    unavailableReason: undefined,
  }));
