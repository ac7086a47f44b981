/** A limit on events or tokens within a time window. */
export interface RateLimit {
  /** Identifies the count. */
  readonly key: string;
  readonly windowMs: number;
  readonly limit: number;
  /** Amount taken by this call. */
  readonly amount: number;
}

/** A concurrency limit. */
export interface ConcurrencySlot {
  readonly key: string;
  readonly limit: number;
}

/** Everything one call takes; all or nothing. */
export interface Acquisition {
  /** Unique; slots are returned under it. */
  readonly id: string;
  readonly counts: readonly RateLimit[];
  readonly slots: readonly ConcurrencySlot[];
}

/** State of a count after a decision. */
export interface CountStatus {
  /** In the window that ends now, rounded up. */
  readonly used: number;
  /** Until the count is back to zero without further calls. */
  readonly resetMs: number;
  /** The counted window; needed for corrections. */
  readonly window: number;
}

export interface Refusal {
  /** Index of the exceeded limit: counts first, then slots. */
  readonly which: number;
  /** Until it could be granted without competing calls; undefined if the call exceeds the limit by itself. */
  readonly waitMs: number | undefined;
}

export interface Decision {
  /** The limit with the longest wait; undefined if granted. */
  readonly refusal: Refusal | undefined;
  /** One per count, in order. */
  readonly statuses: readonly CountStatus[];
}

/** Adjusts a count once the actual usage is known. */
export interface Correction {
  readonly key: string;
  readonly windowMs: number;
  /** The window it was taken in; ignored if that is long past. */
  readonly window: number;
  readonly amount: number;
}

export interface Release {
  readonly id: string;
  /** Keys of the slots taken. */
  readonly slots: readonly string[];
  readonly corrections: readonly Correction[];
}

export interface Counts {
  /** @throws if the store is unavailable */
  acquire(acquisition: Acquisition): Promise<Decision>;
  /** Returns slots and corrects counts. Never fails: lost updates expire. */
  release(back: Release): void;
}

/** Counts shared with other processes; may be unreachable. */
export interface SharedCounts extends Counts {
  /** Display name. */
  readonly name: string;
  /** Resolves once connected. @throws if that fails; reconnects in the background */
  open(): Promise<void>;
  /** Health check. @throws if unavailable */
  probe(): Promise<void>;
  /** Called when the connection is lost between calls. */
  onLost: ((reason: unknown) => void) | undefined;
  close(): Promise<void>;
}
