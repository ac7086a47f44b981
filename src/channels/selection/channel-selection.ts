import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/index.js';
import { takesCalls } from '../channel.js';
import { ChannelDirectory } from '../channel.directory.js';
import { ChannelHealth } from '../health/channel-health.js';
import { Random } from '../random.js';
import { CallSelection, type Wanted } from './call-selection.js';
import { ChannelLoad } from './channel-load.js';

/** Chooses whom calls ask. */
@Injectable()
export class ChannelSelection {
  constructor(
    private readonly directory: ChannelDirectory,
    private readonly health: ChannelHealth,
    private readonly load: ChannelLoad,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  for(wanted: Wanted): CallSelection {
    const { directory, health, load, random, clock } = this;
    const { group, model, protocol, admits } = wanted;
    return new CallSelection(
      { ...wanted, admits: (channel) => takesCalls(channel, protocol) && admits?.(channel) !== false },
      { channels: () => directory.serving(group, model), health, load, random, clock },
    );
  }
}
