import { Injectable } from '@nestjs/common';

/**
 * How fast strangers are refused: whoever shows no key that we issued. A refusal takes about a third of what a call does
 * of the process's single thread, so at this rate strangers cost the calls of everybody else some 3 %, and 7 % on a machine that takes six times as long.
 */
@Injectable()
export class InvalidKeyLimits {
  /** Refusals a second, of all strangers together. */
  readonly perSecond: number = 300;
  /** So many wait for theirs, of one network: when only they wait, for 4 s at most. */
  readonly waitingOfNetwork: number = 1024;
  /** So many in all, for 14 s at most. With its connection each takes some 40 kB. */
  readonly waiting: number = 4096;
}
