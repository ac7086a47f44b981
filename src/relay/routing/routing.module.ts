import { Injectable, Module } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { ChannelDirectory, ChannelsModule } from '../../catalog/channels/index.js';
import { Metrics, MetricsModule } from '../../platform/metrics/index.js';
import { ChannelHealth } from './health/channel-health.js';
import { CheckCalls } from './health/check-calls.js';
import { HealthLimits } from './health/cooldown.js';
import { CooldownRepository, SharedCooldowns } from './health/shared-cooldowns.js';
import { ChannelSelection } from './selection/call-selection.js';
import { ChannelLoad, Random } from './selection/channel-status.js';

/** Metric of channels in use. */
@Injectable()
class ChannelGauge {
  constructor(metrics: Metrics, directory: ChannelDirectory, health: ChannelHealth) {
    const help = '1 if the channel can receive calls; 0 if it, or every credential, is in cooldown or unusable.';
    const show = (gauge: Gauge<'channel'>): void => {
      gauge.reset();
      for (const channel of directory.all()) gauge.set({ channel: channel.name }, health.isUp(channel) ? 1 : 0);
    };
    metrics.gauge('channel_up', help, ['channel'], show, 'min');
  }
}

@Module({
  imports: [ChannelsModule, MetricsModule],
  providers: [
    Random,
    HealthLimits,
    CooldownRepository,
    SharedCooldowns,
    CheckCalls,
    ChannelHealth,
    ChannelGauge,
    ChannelLoad,
    ChannelSelection,
  ],
  exports: [ChannelHealth, ChannelSelection, ChannelsModule, CheckCalls, Random],
})
export class RoutingModule {}
