import { Injectable, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CatalogModule, CatalogService } from '../../catalog/index.js';
import { ChannelDirectory, ChannelsModule } from '../../catalog/channels/index.js';
import { Config } from '../../platform/config/index.js';
import { Clock } from '../../platform/shared/index.js';
import { demoChannels, demoModel } from './demo.catalog.js';
import { type DemoUpstream, startDemoUpstream } from './demo.server.js';

/** Runs the demo upstream beside the relay and offers its model for as long as no channel is switched on. */
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
