import type { JsonObject } from '../../../src/platform/shared/index.js';
import type {
  CallResult,
  ProtocolAdapter,
  StopReason,
  UpstreamAdapter,
} from '../../../src/protocols/contract/index.js';
import type { ResponseTraits } from '../../support/arbitrary-responses.js';
import type { ContentTraits } from '../../support/arbitrary-contents.js';
import type { ClientDouble } from '../client-double.js';
import type { VendorDouble } from '../vendor-double.js';
import type { ReadEvent } from '../../support/stream-text.js';

/** A protocol with both halves: what it preserves and, as data, what it does not support. */
export interface ProtocolUnderTest {
  readonly client: ClientDouble;
  readonly vendor: VendorDouble;
  readonly protocol: ProtocolAdapter;
  readonly upstream: UpstreamAdapter;
  /** A request that shows everything a response can contain. */
  readonly request: JsonObject;
  /** An upstream with all capabilities of the protocol. */
  readonly flags: JsonObject;
  /** Limits of random responses and requests. Reasons are given where set. */
  readonly traits: ResponseTraits & ContentTraits;
  /** A response after passing through the protocol. */
  carried(response: CallResult, how: 'streamed' | 'whole'): CallResult;
  /** Stop reasons that become another one. */
  readonly stops: Readonly<Partial<Record<StopReason, StopReason>>>;
  /** The seal in reasoning as an upstream gets it; absent: all of it. */
  sealIn?(data: string): string;
  /** Checks a complete stream against the protocol's grammar. */
  expectStream(events: readonly ReadEvent[]): void;
}
