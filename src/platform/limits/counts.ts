/** Something that may happen so often, or be used up so far, in a window of time. */
export interface Counted {
  /** What is counted for whom; the same text always means the same count. */
  readonly key: string;
  readonly windowMs: number;
  readonly limit: number;
  /** What this one takes of it. */
  readonly amount: number;
}

/** Something that may run so many times at once. */
export interface Place {
  readonly key: string;
  readonly limit: number;
}

/** All that one call takes: of each count, and a place each. Either all of it is there, or nothing is taken. */
export interface Taking {
  /** Of its own for each taking: the places are given back under it. */
  readonly id: string;
  readonly counts: readonly Counted[];
  readonly places: readonly Place[];
}

/** How a count stands when a taking has been decided. */
export interface CountStanding {
  /** Of the window that ends now, rounded up. */
  readonly used: number;
  /** Until all of it would be forgotten, if nothing came any more. */
  readonly resetMs: number;
  /** The window that was counted in, for a correction. */
  readonly window: number;
}

export interface Refusal {
  /** Which one there was not enough of: its place among the counts, and behind them among the places. */
  readonly which: number;
  /** Until it would be granted, if nobody else took any of it; undefined: never, it asks for more than the limit. */
  readonly waitMs: number | undefined;
}

export interface Decision {
  /** Undefined when all of it was taken. Else the one that keeps it waiting for longest. */
  readonly refusal: Refusal | undefined;
  /** One for each count, in order. */
  readonly standings: readonly CountStanding[];
}

/** What is told of a count afterwards: more was used than was taken, or less. */
export interface Correction {
  readonly key: string;
  readonly windowMs: number;
  /** The window that it was taken in: what is given back is given back there, or nowhere when that is long past. */
  readonly window: number;
  readonly amount: number;
}

/** The end of what a taking was for. */
export interface Return {
  readonly id: string;
  /** The keys of the places it took. */
  readonly places: readonly string[];
  readonly corrections: readonly Correction[];
}

/** Where takings are decided. */
export interface Counts {
  /** @throws when nobody decides there at present */
  take(taking: Taking): Promise<Decision>;
  /** Gives places back and corrects counts. Never fails: what cannot be told is forgotten in time. */
  giveBack(back: Return): void;
}

/** Counts that other processes share, and that may be away. */
export interface SharedCounts extends Counts {
  /** What people call it. */
  readonly name: string;
  /** Resolves once it can be asked for the first time. @throws why it cannot; it goes on trying by itself */
  open(): Promise<void>;
  /** Asks whether it decides. @throws why it does not */
  probe(): Promise<void>;
  /** Called when it is known to be away before it is asked. */
  onLost: ((reason: unknown) => void) | undefined;
  close(): Promise<void>;
}
