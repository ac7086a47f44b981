import { type Abilities, describeAbilities } from '../abilities.js';
import { responseAbilities } from './responses.js';
import { requestAbilities } from './requests.js';
import { errors } from './errors.js';
import type { ClientAbility } from './ability.js';
import type { ClientHalf } from './half.js';
import { heads } from './heads.js';
import { reasoning } from './reasoning.js';
import { metadataAbilities } from './metadata.js';
import { transcripts } from './transcripts.js';
import { words } from './words.js';

/** All checks of a client half as values: the kit's own test runs them on defective halves. */
export const clientAbilities = (half: ClientHalf): Abilities<ClientAbility> => ({
  ...heads(half),
  ...responseAbilities(half),
  ...requestAbilities(half),
  ...reasoning(half),
  ...errors(half),
  ...metadataAbilities(half),
  ...words(half),
});

/** A half with its transcripts. */
export interface ClientSuite extends ClientHalf {
  /** Folder of transcripts, see `README.md`. */
  readonly fixtures?: string;
}

/** Tests a client half on plain values, one group per ability. */
export function describeClientHalf({ fixtures, ...half }: ClientSuite): void {
  const abilities = {
    ...clientAbilities(half),
    ...(fixtures !== undefined && { transcripts: { checks: transcripts(half, fixtures) } }),
  };
  describeAbilities(`${half.protocol.id}, client half`, abilities, half.client.lacks ?? {});
}
