import type { ProtocolAdapter } from '../../../src/protocols/contract/index.js';
import type { ClientDouble } from '../client-double.js';

/** A client half with a client's double. */
export interface ClientHalf {
  readonly protocol: ProtocolAdapter;
  readonly client: ClientDouble;
}
