import type { AttemptLog, UsageBounds } from '../billing/index.js';
import type { Call, Losses, TextPlaces, UpstreamAdapter, UpstreamTarget } from '../call/index.js';
import type { Answer } from './answer.js';
import type { RelayTimings } from './relay-timings.js';
import type { Translation } from './translation.js';
import type { Translator } from './translations.js';
import type { UsageCounting } from './usage-counting.js';

/** One request to an upstream, as the lane must know it. */
export interface LaneContext {
  readonly call: Call;
  readonly adapter: UpstreamAdapter;
  readonly target: UpstreamTarget;
  /** How many of the client's stop texts the upstream knows. */
  readonly stopsSent: number;
  /** Where the words of the client's dialect stand. */
  readonly places: TextPlaces;
  readonly answer: Answer;
  readonly attempt: AttemptLog;
  readonly timings: RelayTimings;
  readonly counting: UsageCounting;
  /** What its usage is judged by. */
  readonly bounds: UsageBounds;
  /** The upstream's streams end with what they used: nothing has to be kept for a count. */
  readonly reportsUsage: boolean;
  /** Undefined when the request went up in the client's own words. */
  readonly translation: Translation | undefined;
  /** For an answer in another form than was asked for. */
  readonly translator: Translator;
  /** Those of the request, for those of the answer to join. */
  readonly losses: Losses;
}
