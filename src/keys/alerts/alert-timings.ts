import { Injectable } from '@nestjs/common';

/** How warnings come about, in milliseconds. The same in every process that shares a database. */
@Injectable()
export class AlertTimings {
  /** So long passes between two looks at thresholds at least, whichever process looks. */
  readonly lookEveryMs: number = 5_000;
  /** So long passes after all mails were sent that were due. */
  readonly sendEveryMs: number = 2_000;
  /**
   * Whoever takes up a mail has it so long for itself. Longer than handing it over can take: a mail that nobody has told
   * of after that belongs to a process that died.
   */
  readonly claimMs: number = 5 * 60_000;
  /** After a mail could not be handed over; twice as long each time, up to the longest. */
  readonly firstRetryMs: number = 15_000;
  readonly longestRetryMs: number = 10 * 60_000;
  /** A warning that could not be sent for so long is dropped. */
  readonly staleAfterMs: number = 24 * 60 * 60_000;
}
