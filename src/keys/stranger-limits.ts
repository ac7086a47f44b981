import { Injectable } from '@nestjs/common';

/**
 * How fast strangers are refused: whoever shows no key that we issued. A refusal takes about a third of what a call does
 * of the process's single thread, so this rate costs the calls of everybody else some 5 %, whatever strangers do.
 */
@Injectable()
export class StrangerLimits {
  /** Refusals a second, of all strangers together. */
  readonly perSecond: number = 600;
  /** So many wait for theirs, of one network: then others who share it wait for 1.5 s at most. */
  readonly waitingOfNetwork: number = 1024;
  /** So many in all, for 6 s at most. They hold their connections and nothing else. */
  readonly waiting: number = 4096;
}
