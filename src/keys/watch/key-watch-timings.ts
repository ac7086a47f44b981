/** How often it is looked at what keys are used for, in ms. Tests take shorter times. */
export class KeyWatchTimings {
  /** For networks: a first use is known within a minute. */
  readonly lookEveryMs: number = 20_000;
  /** For volumes: all calls of the last hour are read for it. */
  readonly volumesEveryMs: number = 5 * 60_000;
}
