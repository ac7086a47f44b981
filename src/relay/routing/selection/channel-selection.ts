import { Injectable } from '@nestjs/common';
import {
  type Channel,
  ChannelDirectory,
  type SwitchedOffChannel,
  takesCalls,
} from '../../../catalog/channels/index.js';
import { Clock } from '../../../platform/shared/index.js';
import type { ProtocolId } from '../../../protocols/contract/index.js';
import { ChannelHealth } from '../health/channel-health.js';
import { CallSelection, type SelectionQuery } from './call-selection.js';
import { ChannelLoad } from './channel-status.js';
import type { CallOutlook } from './outlook.js';
import { Random } from './weighted-draw.js';

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

/** Why a channel that serves a model is not considered for a call of it. */
export type Exclusion =
  | { readonly why: 'switched-off' }
  /** It cannot be called from this process; `reason` as `Channel.unavailableReason`. */
  | { readonly why: 'unavailable'; readonly reason: string }
  | { readonly why: 'other-groups'; readonly groups: readonly string[] }
  /** It takes calls of its own dialect alone. */
  | { readonly why: 'native-only' };

export interface Excluded {
  readonly channel: SwitchedOffChannel | Channel;
  readonly exclusion: Exclusion;
}

/** Of a channel that is known not to be considered; in the order in which an operator would put it right. */
function exclusionOf(channel: SwitchedOffChannel | Channel, group: string, protocol: ProtocolId): Exclusion {
  if (!('unavailableReason' in channel)) return { why: 'switched-off' };
  const { unavailableReason, groups } = channel;
  if (unavailableReason !== undefined) return { why: 'unavailable', reason: unavailableReason };
  if (!groups.includes(group)) return { why: 'other-groups', groups };
  if (!takesCalls(channel, protocol)) return { why: 'native-only' };
  throw new TypeError(`The channel ${channel.name} takes such calls.`);
}
