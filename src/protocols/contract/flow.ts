import { type AppError, monotonicMs } from '../../platform/shared/index.js';

interface Pausable {
  pause(): void;
  resume(): void;
}

/** A full client socket, or a stream waiting for credit. */
type FlowHolder = 'client' | 'credit';

/** Back-pressure of a call: while held, its upstream is not read. Attempts attach one after the other. */
export class Flow {
  private source: Pausable | undefined;
  private readonly holders = { client: false, credit: false };
  private heldMs = 0;
  private heldSinceMs: number | undefined;

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

  /** Makes this the source to pause and resume. Returns a function that detaches it. */
  attach(source: Pausable): () => void {
    this.source = source;
    if (this.paused) source.pause();
    return () => {
      if (this.source === source) this.source = undefined;
    };
  }
}

/** @returns whether the call fails now */
type InterruptionListener = (error: AppError) => boolean;

/** Tells the call's current handler that it must end early. One per call; a new listener replaces the previous one. */
export class Interruption {
  private reason: AppError | undefined;
  private listener: InterruptionListener | undefined;

  get error(): AppError | undefined {
    return this.reason;
  }

  /** The first reason counts. @returns whether the call fails now */
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

/** The client was not reading, the hold was being extended, or a retry was delayed. */
export const WAIT_REASONS = ['client', 'credit', 'back_off'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Waits of one reason. Times in ms since the call's start. */
export interface WaitRecord {
  readonly count: number;
  readonly ms: number;
  /** Adjacent waits may be merged, so that spans can exceed `ms`. */
  readonly spans: readonly (readonly [atMs: number, tookMs: number])[];
}

export type WaitRecords = Readonly<Partial<Record<WaitReason, WaitRecord>>>;

/** Slow clients pause thousands of times: beyond this, the closest spans are merged. */
const MAX_SPANS = 20;

/** Records what a running call waits for. Allocates nothing until it waits. */
export class Waits {
  private readonly byReason: Partial<Record<WaitReason, Spans>> = {};

  constructor(private readonly startedMs: number) {}

  /** Idempotent. */
  begin(reason: WaitReason): void {
    (this.byReason[reason] ??= new Spans()).begin(monotonicMs() - this.startedMs);
  }

  /** No effect without a beginning. */
  end(reason: WaitReason): void {
    this.byReason[reason]?.end(monotonicMs() - this.startedMs);
  }

  /** All waits of a call that ended after `endMs`; undefined if none. */
  recordsUntil(endMs: number): WaitRecords | undefined {
    const entries = WAIT_REASONS.map((reason) => [reason, this.byReason[reason]?.record(endMs)] as const);
    const known = entries.filter(([, record]) => record !== undefined && record.ms > 0);
    return known.length === 0 ? undefined : Object.fromEntries(known);
  }
}

class Spans {
  /** Alternating starts and ends. */
  private readonly bounds: number[] = [];
  private sinceMs: number | undefined;
  private count = 0;
  private ms = 0;

  begin(atMs: number): void {
    this.sinceMs ??= atMs;
  }

  end(atMs: number): void {
    if (this.sinceMs === undefined) return;
    this.count += 1;
    this.ms += atMs - this.sinceMs;
    this.bounds.push(this.sinceMs, atMs);
    this.sinceMs = undefined;
    if (this.bounds.length > 2 * MAX_SPANS) this.joinClosest();
  }

  record(endMs: number): WaitRecord {
    const { bounds, sinceMs } = this;
    const all = sinceMs === undefined ? bounds : [...bounds, sinceMs, Math.max(sinceMs, endMs)];
    const spans: [number, number][] = [];
    for (let at = 0; at < all.length; at += 2) {
      const [begin = 0, end = 0] = all.slice(at, at + 2);
      spans.push([Math.round(begin), Math.round(end - begin)]);
    }
    const running = sinceMs === undefined ? 0 : Math.max(0, endMs - sinceMs);
    return {
      count: this.count + (sinceMs === undefined ? 0 : 1),
      ms: Math.round(this.ms + running),
      spans: spans.filter(([, tookMs]) => tookMs > 0),
    };
  }

  private joinClosest(): void {
    let closest = 1;
    for (let end = 3; end < this.bounds.length - 1; end += 2) if (this.gap(end) < this.gap(closest)) closest = end;
    this.bounds.copyWithin(closest, closest + 2);
    this.bounds.length -= 2;
  }

  /** Gap between this end and the next start. */
  private gap(end: number): number {
    return (this.bounds[end + 1] ?? Infinity) - (this.bounds[end] ?? 0);
  }
}
