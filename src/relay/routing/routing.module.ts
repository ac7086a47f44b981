import { Module } from '@nestjs/common';
import { ChannelsModule } from '../../catalog/channels/index.js';
import { MetricsModule } from '../../platform/metrics/index.js';
import { ChannelGauge } from './health/channel-gauge.js';
import { ChannelHealth } from './health/channel-health.js';
import { CheckCalls } from './health/check-calls.js';
import { HealthLimits } from './health/health-limits.js';
import { CooldownRepository } from './health/cooldown.repository.js';
import { SharedCooldowns } from './health/shared-cooldowns.js';
import { Random } from './random.js';
import { ChannelLoad } from './selection/channel-load.js';
import { ChannelSelection } from './selection/channel-selection.js';

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
