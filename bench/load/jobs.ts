// What the load generator is told to do, and what it answers. These travel between processes: data only.
import type { Behaviour } from '../work/behaviours.ts';

/** Whom the calls go to. */
export interface Target {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly protocol: string;
  /** In place of the model named after the behaviour. */
  readonly model?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** So many calls at a time, each followed by the next, for so long. */
export interface CallsJob {
  readonly kind: 'calls';
  readonly target: Target;
  readonly behaviour: Behaviour;
  readonly promptBytes: number;
  readonly inFlight: number;
  readonly forMs: number;
}

/** Paced streams, started one after the other over the ramp. */
export interface PacedJob {
  readonly kind: 'paced';
  readonly target: Target;
  readonly streams: number;
  readonly rampMs: number;
  /** Connections that are open before; the other streams open their own. Default: as the job before left them. */
  readonly connections?: number;
}

/** Streams that are opened and stay open until `release`. */
export interface HoldJob {
  readonly kind: 'hold';
  readonly target: Target;
  readonly streams: number;
}

/** Clients that read a flood slowly until `release`. */
export interface SlowReadersJob {
  readonly kind: 'slow-readers';
  readonly target: Target;
  readonly clients: number;
  readonly bytesPerSecond: number;
}

/** Calls with unknown keys: half with the same key, half each with its own. */
export interface UnknownKeysJob {
  readonly kind: 'unknown-keys';
  readonly target: Target;
  readonly calls: number;
  readonly perSecond: number;
}

/** Closes whatever is still open. */
interface ReleaseJob {
  readonly kind: 'release';
}

export type Job = CallsJob | PacedJob | HoldJob | SlowReadersJob | UnknownKeysJob | ReleaseJob;

/** Times in ms, one for each call or event they are of. */
export interface Report {
  /** Calls that were answered as they should be. */
  readonly calls: number;
  readonly failed: number;
  /** Why the first of them failed. */
  readonly failure?: string;
  readonly seconds: number;
  readonly latencies: Float64Array;
  /** Until the first numbered event. */
  readonly firsts: Float64Array;
  /** How far the distance of two events was from the pace. */
  readonly deviations: Float64Array;
  /** Events that did not come, came twice or out of order. */
  readonly lost: number;
}
