import type { ProtocolAdapter } from '../../../src/protocols/contract/index.js';
import type { DialectClient } from '../dialect-client.js';

/** A client half with a client's double. */
export interface ClientHalf {
  readonly protocol: ProtocolAdapter;
  readonly client: DialectClient;
}
