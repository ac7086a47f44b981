import { Injectable } from '@nestjs/common';
import { type Channel, ChannelDirectory, type DisabledChannel, takesCalls } from '../../../catalog/channels/index.js';
import { Clock } from '../../../platform/shared/index.js';
import type { ProtocolId } from '../../../protocols/contract/index.js';
import { ChannelHealth } from '../health/channel-health.js';
import { CallSelection, type SelectionQuery } from './call-selection.js';
import { type CallOutlook, ChannelLoad, Random } from './channel-status.js';

/** All channels of a model from the view of a call. */
export interface ModelOutlook extends CallOutlook {
  /** Channels that serve the model but not such calls, by name. */
  readonly excluded: readonly Excluded[];
}

/** Selects channels for calls. */
@Injectable()
export class ChannelSelection {
  constructor(
    private readonly directory: ChannelDirectory,
    private readonly health: ChannelHealth,
    private readonly load: ChannelLoad,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  for(query: SelectionQuery): CallSelection {
    const { directory, health, load, random, clock } = this;
    const { group, model, protocol, admits } = query;
    return new CallSelection(
      { ...query, admits: (channel) => takesCalls(channel, protocol) && admits?.(channel) !== false },
      { channels: () => directory.serving(group, model), health, load, random, clock },
    );
  }

  /** Whether the channel exists, even disabled. */
  has(channelId: string): boolean {
    return [...this.directory.all(), ...this.directory.disabled].some(({ id }) => id === channelId);
  }

  /** What would be selected for a call now, and why other channels would not. No side effects. */
  outlook(query: SelectionQuery): ModelOutlook {
    const { group, model, protocol } = query;
    const outlook = this.for(query).outlook();
    const { prospects, unavailable } = outlook;
    const considered = new Set([...prospects, ...unavailable].map(({ channel }) => channel.id));
    const excluded = [...this.directory.all(), ...this.directory.disabled]
      .filter(({ id, models }) => models.has(model) && !considered.has(id))
      .map((channel) => ({ channel, exclusion: exclusionOf(channel, group, protocol) }))
      .toSorted(({ channel: one }, { channel: other }) => one.name.localeCompare(other.name));
    return { ...outlook, excluded };
  }
}

/** Why a channel that serves a model is not considered. */
export type Exclusion =
  | { readonly why: 'switched-off' }
  /** `reason` as in `Channel.unavailableReason`. */
  | { readonly why: 'unavailable'; readonly reason: string }
  | { readonly why: 'other-groups'; readonly groups: readonly string[] }
  /** It only accepts its own protocol. */
  | { readonly why: 'native-only' };

export interface Excluded {
  readonly channel: DisabledChannel | Channel;
  readonly exclusion: Exclusion;
}

/** For channels known to be excluded; the reasons in the order in which an administrator would fix them. */
function exclusionOf(channel: DisabledChannel | Channel, group: string, protocol: ProtocolId): Exclusion {
  if (!('unavailableReason' in channel)) return { why: 'switched-off' };
  const { unavailableReason, groups } = channel;
  if (unavailableReason !== undefined) return { why: 'unavailable', reason: unavailableReason };
  if (!groups.includes(group)) return { why: 'other-groups', groups };
  if (!takesCalls(channel, protocol)) return { why: 'native-only' };
  throw new TypeError(`The channel ${channel.name} takes such calls.`);
}
