import type { OfferedModel } from '../../catalog/index.js';
import type { ProtocolEndpoint } from './protocol-endpoints.js';

/** A dialect in which a model answers. */
export interface Endpoint extends ProtocolEndpoint {
  /** No channel speaks it itself: what it is asked in it is carried over into another dialect, and the answer back. */
  readonly translated: boolean;
}

/** The dialects that a model answers, those first in which calls go up as they are. */
export const endpointsOf = (
  { protocols, translates }: Pick<OfferedModel, 'protocols' | 'translates'>,
  dialects: readonly ProtocolEndpoint[],
): readonly Endpoint[] =>
  dialects
    .map((dialect) => ({ ...dialect, translated: !protocols.includes(dialect.id) }))
    .filter(({ translated }) => translates || !translated)
    .toSorted((one, other) => Number(one.translated) - Number(other.translated));
