import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/shared/index.js';
import { ChannelDirectory, takesCalls } from '../../../catalog/channels/index.js';
import { ChannelHealth } from '../health/channel-health.js';
import { Random } from '../random.js';
import { CallSelection, type SelectionQuery } from './call-selection.js';
import { ChannelLoad } from './channel-load.js';
import { type Excluded, exclusionOf } from './exclusion.js';
import type { CallOutlook } from './outlook.js';

/** All channels of a model, as they stand to a call of it. */
export interface ModelOutlook extends CallOutlook {
  /** Those that serve the model, but not such a call. By name. */
  readonly excluded: readonly Excluded[];
}

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

  for(wanted: SelectionQuery): CallSelection {
    const { directory, health, load, random, clock } = this;
    const { group, model, protocol, admits } = wanted;
    return new CallSelection(
      { ...wanted, admits: (channel) => takesCalls(channel, protocol) && admits?.(channel) !== false },
      { channels: () => directory.serving(group, model), health, load, random, clock },
    );
  }

  /** Whether there is such a channel, also one that is disabled. */
  has(channelId: string): boolean {
    return [...this.directory.all(), ...this.directory.switchedOff].some(({ id }) => id === channelId);
  }

  /** Whom a call would ask if it were made now, and why not the others. Nobody is asked, and nothing is counted. */
  outlook(wanted: SelectionQuery): ModelOutlook {
    const { group, model, protocol } = wanted;
    const outlook = this.for(wanted).outlook();
    const { prospects, hindered } = outlook;
    const considered = new Set([...prospects, ...hindered].map(({ channel }) => channel.id));
    const excluded = [...this.directory.all(), ...this.directory.switchedOff]
      .filter(({ id, models }) => models.has(model) && !considered.has(id))
      .map((channel) => ({ channel, exclusion: exclusionOf(channel, group, protocol) }))
      .toSorted(({ channel: one }, { channel: other }) => one.name.localeCompare(other.name));
    return { ...outlook, excluded };
  }
}
