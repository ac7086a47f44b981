import type { ProtocolId } from './request-line.js';
import type { WaitRecords } from './waits.js';

/** The trace of a call: the client's, or a new one. */
export interface CallTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /**
   * Records an upstream request. Returns the headers that continue the trace.
   * @param ordinal attempt number, from 1
   */
  attempt(ordinal: number, upstream: TracedUpstream): Readonly<Record<string, string>>;
  /** Ends the call; later calls have no effect. */
  end(call: EndedCall): void;
}

/** Target of a request. */
export interface TracedUpstream {
  /** Base URL of the channel. */
  readonly baseUrl: string;
  /** As `UpstreamAdapter.provider`. */
  readonly provider: string;
}

/** What a trace contains: numbers and configured names, never user input. */
export interface EndedCall {
  readonly requestId: string;
  readonly protocol: ProtocolId;
  /** Undefined before admission, when it is user input. */
  readonly model: string | undefined;
  readonly group: string;
  readonly stream: boolean;
  /** As in the usage log. */
  readonly status: string;
  /** Kind of error. */
  readonly error: string | undefined;
  /** Ms since arrival. */
  readonly firstTokenMs: number | undefined;
  /** Undefined if unknown. */
  readonly usage: EndedUsage | undefined;
  readonly attempts: readonly EndedAttempt[];
  /** Ms from its end until it was recorded; undefined if that failed. */
  readonly settledMs: number | undefined;
  /** Ms until the hold was placed or rejected; undefined without a hold. */
  readonly holdMs: number | undefined;
  readonly waits: WaitRecords;
}

/** In tokens. */
export interface EndedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** An upstream request. Times in ms since its start. */
export interface EndedAttempt {
  readonly ordinal: number;
  readonly channel: string;
  readonly protocol: ProtocolId;
  /** The upstream's name. */
  readonly model: string;
  readonly httpStatus: number | undefined;
  /** `succeeded`, `cancelled`, or the kind of error. */
  readonly outcome: string;
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number;
}
