import type { ProtocolId } from '../../../protocols/contract/index.js';
import { type Channel, type SwitchedOffChannel, takesCalls } from '../../../catalog/channels/index.js';

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
export function exclusionOf(channel: SwitchedOffChannel | Channel, group: string, protocol: ProtocolId): Exclusion {
  if (!('unavailableReason' in channel)) return { why: 'switched-off' };
  const { unavailableReason, groups } = channel;
  if (unavailableReason !== undefined) return { why: 'unavailable', reason: unavailableReason };
  if (!groups.includes(group)) return { why: 'other-groups', groups };
  if (!takesCalls(channel, protocol)) return { why: 'native-only' };
  throw new TypeError(`The channel ${channel.name} takes such calls.`);
}
