import type { ProtocolAdapter } from '../../../src/protocols/contract/index.js';
import type { DialectClient } from '../dialect-client.js';

/** A client half, with the client that it is tried on. */
export interface ClientHalf {
  readonly protocol: ProtocolAdapter;
  readonly client: DialectClient;
}
