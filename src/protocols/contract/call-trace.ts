import type { ProtocolId } from './request-line.js';
import type { WaitRecords } from './waits.js';

/** The trace that a call belongs to: of its client's, or one that begins here. */
export interface CallTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /**
   * A request goes to an upstream. Gives the headers that continue the trace there.
   * @param ordinal which of the call's requests it is, from 1
   */
  attempt(ordinal: number, upstream: TracedUpstream): Readonly<Record<string, string>>;
  /** The call has ended; what is told later changes nothing. */
  end(call: EndedCall): void;
}

/** Where a request goes. */
export interface TracedUpstream {
  /** The channel's. */
  readonly baseUrl: string;
  /** As `UpstreamAdapter.provider`. */
  readonly provider: string;
}

/** What a trace tells of a call: numbers, and names that operators have given. Never what anybody has written. */
export interface EndedCall {
  readonly requestId: string;
  readonly dialect: ProtocolId;
  /** Undefined where admission did not come to know it: then it is what a client has written. */
  readonly model: string | undefined;
  readonly group: string;
  readonly stream: boolean;
  /** As in the usage log. */
  readonly status: string;
  /** The kind of error that it ended with. */
  readonly error: string | undefined;
  /** Milliseconds from its arrival. */
  readonly firstTokenMs: number | undefined;
  /** Undefined where nothing is known of it. */
  readonly usage: EndedUsage | undefined;
  readonly attempts: readonly EndedAttempt[];
  /** Milliseconds from its end until it was recorded; undefined when that did not come about in time. */
  readonly settledMs: number | undefined;
  /** Milliseconds until its hold was placed, or refused; undefined when none was asked for. */
  readonly holdMs: number | undefined;
  readonly waits: WaitRecords;
}

/** Tokens. */
export interface EndedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** One request to an upstream. Times in milliseconds from its start. */
export interface EndedAttempt {
  readonly ordinal: number;
  readonly channel: string;
  readonly dialect: ProtocolId;
  /** As the upstream calls it. */
  readonly model: string;
  readonly httpStatus: number | undefined;
  /** `succeeded`, `cancelled`, or the kind of error it ended with. */
  readonly outcome: string;
  readonly firstTokenMs: number | undefined;
  readonly durationMs: number;
}
