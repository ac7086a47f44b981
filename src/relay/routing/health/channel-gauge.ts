import { Injectable } from '@nestjs/common';
import type { Gauge } from 'prom-client';
import { Metrics } from '../../../platform/metrics/index.js';
import { ChannelDirectory } from '../../../catalog/channels/index.js';
import { ChannelHealth } from './channel-health.js';

/** Shows operators which channels are called. */
@Injectable()
export class ChannelGauge {
  constructor(metrics: Metrics, directory: ChannelDirectory, health: ChannelHealth) {
    const help = 'Whether the channel receives calls: 0 while it or all of its credentials are in cooldown or missing.';
    const show = (gauge: Gauge<'channel'>): void => {
      gauge.reset();
      for (const channel of directory.all()) gauge.set({ channel: channel.name }, health.isUp(channel) ? 1 : 0);
    };
    metrics.gauge('channel_up', help, ['channel'], show, 'min');
  }
}
