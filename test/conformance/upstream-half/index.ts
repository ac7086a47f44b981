import { type Abilities, describeAbilities } from '../abilities.js';
import { answering } from './answering.js';
import { asking } from './asking.js';
import { behaving } from './behaving.js';
import { breaking } from './breaking.js';
import type { UpstreamAbility } from './ability.js';
import type { UpstreamHalf } from './half.js';
import { listing } from './listing.js';
import { losing } from './losing.js';
import { reasoning } from './reasoning.js';
import { transcripts } from './transcripts.js';

/** All checks of an upstream half as values: the kit's own test runs them on defective halves. */
export const upstreamAbilities = (half: UpstreamHalf): Abilities<UpstreamAbility> => ({
  ...answering(half),
  ...asking(half),
  ...losing(half),
  ...reasoning(half),
  ...breaking(half),
  ...behaving(half),
  ...listing(half),
});

/** A half with its transcripts. */
export interface UpstreamSuite extends UpstreamHalf {
  /** Folder of transcripts, see `README.md`. */
  readonly fixtures?: string;
}

/** Tests an upstream half on plain values, one group per ability. */
export function describeUpstreamHalf({ fixtures, ...half }: UpstreamSuite): void {
  const abilities = {
    ...upstreamAbilities(half),
    ...(fixtures !== undefined && { transcripts: { checks: transcripts(half, fixtures) } }),
  };
  describeAbilities(`${half.upstream.id}, upstream half`, abilities, half.vendor.lacks ?? {});
}
