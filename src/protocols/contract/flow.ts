import { type AppError, monotonicMs } from '../../platform/shared/index.js';
import type { Waits } from './waits.js';

/** What can be asked to stop sending for a while: the socket of an upstream. */
interface Pausable {
  pause(): void;
  resume(): void;
}

/** Who may hold a flow back: a client whose socket is full, or a stream that waits for money. */
type FlowHolder = 'client' | 'credit';

/**
 * The way back of one call: while anybody holds it, whoever reads from the upstream reads no further. One per call;
 * several attempts may be attached to it in turn.
 */
export class Flow {
  private source: Pausable | undefined;
  private readonly holders = { client: false, credit: false };
  private heldMs = 0;
  /** Since when it is held now. */
  private heldSinceMs: number | undefined;

  /** @param waits where it is noted by whom and when it is held; nobody needs to know when absent */
  constructor(private readonly waits?: Waits) {}

  get paused(): boolean {
    return this.holders.client || this.holders.credit;
  }

  /** Milliseconds for which it has been held so far: what limits the time of an upstream does not count them. */
  get pausedMs(): number {
    return this.heldSinceMs === undefined ? this.heldMs : this.heldMs + monotonicMs() - this.heldSinceMs;
  }

  /** The client takes nothing at the moment. */
  get full(): boolean {
    return this.holders.client;
  }

  /** Again does nothing. */
  hold(holder: FlowHolder): void {
    const wasPaused = this.paused;
    this.holders[holder] = true;
    this.waits?.begin(holder);
    if (wasPaused) return;
    this.heldSinceMs = monotonicMs();
    this.source?.pause();
  }

  /** Without a hold does nothing. */
  release(holder: FlowHolder): void {
    const wasPaused = this.paused;
    this.holders[holder] = false;
    this.waits?.end(holder);
    if (!wasPaused || this.paused) return;
    this.heldMs = this.pausedMs;
    this.heldSinceMs = undefined;
    this.source?.resume();
  }

  /** From now on this source is the one that is paused and resumed. Returns what takes it off again. */
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
 * Whether a call has to end before its time, told to whoever answers for it at the moment. One per call; a listener takes
 * the place of the one before.
 */
export class Interruption {
  private reason: AppError | undefined;
  private listener: InterruptionListener | undefined;

  /** Why the call has to end; undefined while it need not. */
  get error(): AppError | undefined {
    return this.reason;
  }

  /** Only the first reason counts. @returns whether the call fails by it now */
  interrupt(error: AppError): boolean {
    if (this.reason !== undefined) return false;
    this.reason = error;
    return this.listener?.(error) ?? false;
  }

  /** Calls at once when it has happened already. Returns what takes this listener off again. */
  listen(listener: InterruptionListener): () => void {
    this.listener = listener;
    if (this.reason !== undefined) listener(this.reason);
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}
