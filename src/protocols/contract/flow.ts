import { type AppError, monotonicMs } from '../../platform/shared/index.js';
import type { Waits } from './waits.js';

/** A pausable source: the socket of an upstream. */
interface Pausable {
  pause(): void;
  resume(): void;
}

/** What can hold a flow: a full client socket, or a stream that waits for credit. */
type FlowHolder = 'client' | 'credit';

/** Back-pressure of one call: while held, its upstream is not read. Attempts attach one after the other. */
export class Flow {
  private source: Pausable | undefined;
  private readonly holders = { client: false, credit: false };
  private heldMs = 0;
  /** Start of the current hold. */
  private heldSinceMs: number | undefined;

  /** @param waits records holds; optional */
  constructor(private readonly waits?: Waits) {}

  get paused(): boolean {
    return this.holders.client || this.holders.credit;
  }

  /** Total time held in ms, excluded from upstream timeouts. */
  get pausedMs(): number {
    return this.heldSinceMs === undefined ? this.heldMs : this.heldMs + monotonicMs() - this.heldSinceMs;
  }

  /** The client is not reading. */
  get full(): boolean {
    return this.holders.client;
  }

  /** Idempotent. */
  hold(holder: FlowHolder): void {
    const wasPaused = this.paused;
    this.holders[holder] = true;
    this.waits?.begin(holder);
    if (wasPaused) return;
    this.heldSinceMs = monotonicMs();
    this.source?.pause();
  }

  /** No effect without a hold. */
  release(holder: FlowHolder): void {
    const wasPaused = this.paused;
    this.holders[holder] = false;
    this.waits?.end(holder);
    if (!wasPaused || this.paused) return;
    this.heldMs = this.pausedMs;
    this.heldSinceMs = undefined;
    this.source?.resume();
  }

  /** Makes this source the one to pause and resume. Returns a function that detaches it. */
  attach(source: Pausable): () => void {
    this.source = source;
    if (this.paused) source.pause();
    return () => {
      if (this.source === source) this.source = undefined;
    };
  }
}

/** @returns whether the call fails by it now */
type InterruptionListener = (error: AppError) => boolean;

/**
 * Signals that a call must end early to its current handler. One per call; a new listener replaces the previous one.
 */
export class Interruption {
  private reason: AppError | undefined;
  private listener: InterruptionListener | undefined;

  /** Why the call must end; undefined if it need not. */
  get error(): AppError | undefined {
    return this.reason;
  }

  /** The first reason counts. @returns whether the call fails by it now */
  interrupt(error: AppError): boolean {
    if (this.reason !== undefined) return false;
    this.reason = error;
    return this.listener?.(error) ?? false;
  }

  /** Calls immediately if already interrupted. Returns a function that removes the listener. */
  listen(listener: InterruptionListener): () => void {
    this.listener = listener;
    if (this.reason !== undefined) listener(this.reason);
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}
