import type { AttemptLog } from './billing/index.js';
import type { Call, TranslationWarnings, UpstreamAdapter, UpstreamTarget } from '../protocols/contract/index.js';
import type { CallContext } from './call-context.js';
import type { RelayTimings } from './relay-timings.js';
import type { Translation } from './translation.js';
import type { Translator } from './translations.js';

/** One request to an upstream, as the lane must know it. */
export interface LaneContext {
  readonly call: Call;
  readonly adapter: UpstreamAdapter;
  readonly target: UpstreamTarget;
  /** How many of the client's stop texts the upstream knows. */
  readonly stopsSent: number;
  readonly answer: CallContext;
  readonly attempt: AttemptLog;
  readonly timings: RelayTimings;
  /** Undefined when the request went up in the client's own words. */
  readonly translation: Translation | undefined;
  /** For an answer in another form than was asked for. */
  readonly translator: Translator;
  /** Those of the request, for those of the answer to join. */
  readonly losses: TranslationWarnings;
}
