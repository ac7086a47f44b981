import { Injectable } from '@nestjs/common';
import { ChannelDirectory, type ChannelRecord } from '../../../catalog/channels/index.js';
import { ChannelHealth } from '../../../relay/routing/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { type ChannelState, stateOf } from './channel-state.js';

/** Channel states, as known to this process. */
@Injectable()
export class ChannelStates {
  constructor(
    private readonly directory: ChannelDirectory,
    private readonly health: ChannelHealth,
    private readonly clock: Clock,
  ) {}

  of(channel: Pick<ChannelRecord, 'id' | 'enabled'>): ChannelState {
    const called = this.directory.all().find(({ id }) => id === channel.id);
    return stateOf(channel, called, this.health, this.clock.now());
  }
}
