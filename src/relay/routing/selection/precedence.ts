import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { Channel } from '../../../catalog/channels/index.js';

type Placed = Pick<Channel, 'tier' | 'protocol' | 'weight'>;

/**
 * Below 0 where one channel is asked before the other whatever chance says: by tier, then the client's own dialect, since
 * nothing can be lost there, then whoever has a weight at all. 0 where chance decides, by their weights.
 */
export function precedence(one: Placed, other: Placed, protocol: ProtocolId): number {
  if (one.tier !== other.tier) return one.tier - other.tier;
  const isNative = Number(other.protocol === protocol) - Number(one.protocol === protocol);
  return isNative || Number(one.weight === 0) - Number(other.weight === 0);
}

/** What a channel counts for among its equals; those of weight 0 are drawn alike. */
export const drawnBy = ({ weight }: Placed): number => (weight === 0 ? 1 : weight);
