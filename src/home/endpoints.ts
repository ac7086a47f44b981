import type { ProtocolId } from '../call/index.js';
import type { Dialect } from './dialects.js';

/** A dialect in which a model answers. */
export interface Endpoint extends Dialect {
  /** A channel speaks it itself, so that nothing is translated on the way. */
  readonly native: boolean;
}

/**
 * The dialects that a model answers when its channels speak these. Calls go only to channels of the client's own dialect,
 * so that each is native; once answers are translated, the others belong here too.
 */
export const endpointsOf = (spoken: readonly ProtocolId[], dialects: readonly Dialect[]): readonly Endpoint[] =>
  dialects.filter(({ id }) => spoken.includes(id)).map((dialect) => ({ ...dialect, native: true }));
