import { Injectable } from '@nestjs/common';

/**
 * How fast strangers are refused: whoever shows no key that we issued. A refusal takes about a third of what a call does
 * of the process's single thread, so at this rate strangers cost the calls of everybody else some 6 %.
 */
@Injectable()
export class StrangerLimits {
  /** Refusals a second, of all strangers together. */
  readonly perSecond: number = 600;
  /** So many wait for theirs, of one network: when only they wait, for 2 s at most. */
  readonly waitingOfNetwork: number = 1024;
  /** So many in all, for 7 s at most. With its connection each takes some 40 kB. */
  readonly waiting: number = 4096;
}
