import { describeAbilities, type Abilities } from '../abilities.js';
import { answering } from './answering.js';
import { asking } from './asking.js';
import { behaving } from './behaving.js';
import { breaking } from './breaking.js';
import type { UpstreamAbility, UpstreamHalf } from './half.js';
import { reasoning } from './reasoning.js';

/** All that is asked of an upstream half, as values: the kit's own test runs them on halves that are wrong on purpose. */
export const upstreamAbilities = (half: UpstreamHalf): Abilities<UpstreamAbility> => ({
  ...answering(half),
  ...asking(half),
  ...reasoning(half),
  ...breaking(half),
  ...behaving(half),
});

/** The side that speaks to an upstream, on plain values: an ability each, shown or said to have no word. */
export function describeUpstreamHalf(half: UpstreamHalf): void {
  describeAbilities(`${half.upstream.id}, upstream half`, upstreamAbilities(half), half.vendor.lacks ?? {});
}
