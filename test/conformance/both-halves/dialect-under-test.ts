import type { JsonObject } from '../../../src/platform/shared/index.js';
import type {
  CallResult,
  ProtocolAdapter,
  StopReason,
  UpstreamAdapter,
} from '../../../src/protocols/contract/index.js';
import type { AnswerTraits } from '../../support/arbitrary-answers.js';
import type { ContentTraits } from '../../support/arbitrary-contents.js';
import type { DialectClient } from '../dialect-client.js';
import type { DialectVendor } from '../dialect-vendor.js';
import type { ReadEvent } from '../../support/stream-text.js';

/** A dialect that has both halves: what it carries from the one to the other, and as data what it has no words for. */
export interface DialectUnderTest {
  readonly client: DialectClient;
  readonly vendor: DialectVendor;
  readonly protocol: ProtocolAdapter;
  readonly upstream: UpstreamAdapter;
  /** A request that asks to see all that an answer can have, streamed or not. */
  readonly request: JsonObject;
  /** An upstream that can do everything which the dialect has words for. */
  readonly flags: JsonObject;
  /** What random answers and requests may have. The reasons stand where this is filled in. */
  readonly traits: AnswerTraits & ContentTraits;
  /** An answer as it is when it has passed through the dialect: what must come back of it. */
  carried(answer: CallResult, how: 'streamed' | 'whole'): CallResult;
  /** Stops that read like another one here. */
  readonly stops: Readonly<Partial<Record<StopReason, StopReason>>>;
  /** Checks a whole stream against the dialect's own grammar. @param text of a stream that ended well */
  expectStream(events: readonly ReadEvent[]): void;
}
