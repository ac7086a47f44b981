import type { ProtocolId } from '../../../protocols/contract/index.js';
import { drawnBy, precedence } from './precedence.js';
import type { NoChannel } from './shortage.js';
import type { AvailableChannel, UnavailableChannel, ChannelStatus } from './channel-status.js';

/** A channel that a call would ask, when its turn comes. */
export interface Prospect extends AvailableChannel {
  /** How much of the calls that nothing ties to a channel ask this one first: 0 to 1. */
  readonly firstShare: number;
}

/** Whom a call would ask, if it were made now. Nobody is asked for it, and nothing is drawn. */
export interface CallOutlook {
  /** In the order in which they are likely to be asked: those that chance decides between, by their weights. */
  readonly prospects: readonly Prospect[];
  readonly hindered: readonly UnavailableChannel[];
  /** What the call would be told because nobody can be asked. */
  readonly shortage: NoChannel | undefined;
}

/** Those that can be asked, in their order and with their shares. */
export function prospectsOf(standings: readonly ChannelStatus[], protocol: ProtocolId): readonly Prospect[] {
  const ordered = standings
    .filter((standing) => standing.isAskable)
    .toSorted(
      ({ channel: one }, { channel: other }) =>
        precedence(one, other, protocol) || drawnBy(other) - drawnBy(one) || one.name.localeCompare(other.name),
    );
  const [first] = ordered;
  if (first === undefined) return [];
  const isFirst = ({ channel }: AvailableChannel): boolean => precedence(channel, first.channel, protocol) === 0;
  const all = ordered.filter(isFirst).reduce((sum, { channel }) => sum + drawnBy(channel), 0);
  return ordered.map((one) => ({ ...one, firstShare: isFirst(one) ? drawnBy(one.channel) / all : 0 }));
}
