/** How much is left of a limit that is counted by the minute. */
export interface LimitStatus {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is there again, if nothing more is asked: as a duration, and in milliseconds since 1970. */
  readonly resetMs: number;
  readonly resetsAt: number;
}

/** The tightest limits that a call was counted against; absent where there is none. */
export interface LimitStatuses {
  readonly requests?: LimitStatus;
  readonly tokens?: LimitStatus;
}
