import type { Random } from './random.js';

interface Weighted {
  readonly tier: number;
  readonly weight: number;
}

/**
 * The order in which channels are tried: by tier, and by chance within a tier, so that each is first as often as its
 * share of the weights says, each second as often as its share of what is left, and so on.
 * Weight 0 comes last in its tier.
 */
export function weightedOrder<Entry extends Weighted>(entries: readonly Entry[], random: Random): readonly Entry[] {
  if (entries.length < 2) return entries;
  return entries
    .map((entry) => ({ entry, tier: entry.tier, rings: ringingTime(entry.weight, random) }))
    .toSorted((one, other) => compare(one.tier, other.tier) || compare(one.rings, other.rings))
    .map(({ entry }) => entry);
}

/** When an exponential clock running at the rate of the weight rings: clocks ring in just the order that is wanted. */
const ringingTime = (weight: number, random: Random): number =>
  weight === 0 ? Number.POSITIVE_INFINITY : -Math.log(1 - random.next()) / weight;

const compare = (one: number, other: number): number => (one < other ? -1 : one > other ? 1 : 0);
