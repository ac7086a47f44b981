import { describeAbilities, type Abilities } from '../abilities.js';
import { answering } from './answering.js';
import { asking } from './asking.js';
import { errors } from './errors.js';
import type { ClientAbility } from './ability.js';
import type { ClientHalf } from './half.js';
import { heads } from './heads.js';
import { reasoning } from './reasoning.js';
import { templateContext } from './surroundings.js';
import { transcripts } from './transcripts.js';
import { words } from './words.js';

/** All that is asked of a client half, as values: the kit's own test runs them on halves that are wrong on purpose. */
export const clientAbilities = (half: ClientHalf): Abilities<ClientAbility> => ({
  ...heads(half),
  ...answering(half),
  ...asking(half),
  ...reasoning(half),
  ...errors(half),
  ...templateContext(half),
  ...words(half),
});

/** A half, with what is printed of it. */
export interface ClientSuite extends ClientHalf {
  /** The folder of the half's transcripts, as `README.md` describes it. */
  readonly fixtures?: string;
}

/** The side that clients speak to, on plain values: an ability each, shown or said to have no word. */
export function describeClientHalf({ fixtures, ...half }: ClientSuite): void {
  const abilities = {
    ...clientAbilities(half),
    ...(fixtures !== undefined && { transcripts: { checks: transcripts(half, fixtures) } }),
  };
  describeAbilities(`${half.protocol.id}, client half`, abilities, half.client.lacks ?? {});
}
