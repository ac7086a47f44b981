import { type Abilities, describeAbilities } from '../abilities.js';
import { responseAbilities } from './responses.js';
import { requestAbilities } from './requests.js';
import { robustnessAbilities } from './robustness.js';
import { failureAbilities } from './failures.js';
import type { UpstreamAbility } from './ability.js';
import type { UpstreamHalf } from './half.js';
import { listing } from './listing.js';
import { warningAbilities } from './warnings.js';
import { reasoning } from './reasoning.js';
import { transcripts } from './transcripts.js';

/** All checks of an upstream half as values: the kit's own test runs them on defective halves. */
export const upstreamAbilities = (half: UpstreamHalf): Abilities<UpstreamAbility> => ({
  ...responseAbilities(half),
  ...requestAbilities(half),
  ...warningAbilities(half),
  ...reasoning(half),
  ...failureAbilities(half),
  ...robustnessAbilities(half),
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
