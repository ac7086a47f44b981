import { Injectable, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  ChannelDirectory,
  ChannelsModule,
  DEFAULT_TIMEOUTS,
  type FallbackChannel,
} from '../../catalog/channels/index.js';
import { CatalogModule, CatalogService, type FallbackModel, parsePricing } from '../../catalog/index.js';
import { Config } from '../../platform/config/index.js';
import { Clock } from '../../platform/shared/index.js';
import { DEMO_MODEL, type DemoUpstream, startDemoUpstream } from './demo.server.js';

/** Runs the demo upstream and offers its model while no channel is enabled. */
@Injectable()
class DemoOffer implements OnApplicationBootstrap, OnApplicationShutdown {
  private upstream: DemoUpstream | undefined;

  constructor(
    private readonly config: Config,
    private readonly catalog: CatalogService,
    private readonly channels: ChannelDirectory,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { demo } = this.config;
    if (demo === 'off') return;
    this.upstream = await startDemoUpstream();
    const active = (): boolean => demo === 'on' || !this.channels.hasStored;
    this.catalog.offerFallback([demoModel(this.clock.now())], active);
    this.channels.offerFallback(demoChannels(this.upstream.baseUrl), active);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.upstream?.close();
  }
}

@Module({ imports: [CatalogModule, ChannelsModule], providers: [DemoOffer] })
export class DemoModule {}

const DEMO_PROTOCOLS = ['chat-completions', 'messages', 'responses'] as const;

/** Costs a little, so that a first call shows holds, charges and the log. */
const demoModel = (createdAt: number): FallbackModel => ({
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

/** One channel per protocol, all to the same local upstream. */
const demoChannels = (baseUrl: string): readonly FallbackChannel[] =>
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
