/** The time of day; injected everywhere, so that a test can hold it still. */
export class Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number {
    return Date.now();
  }

  date(): Date {
    return new Date(this.now());
  }
}

/** Milliseconds that only ever grow, for durations: the wall clock may be set back while a call runs. */
export const monotonicMs = (): number => performance.now();
