import { Injectable } from '@nestjs/common';

/** Times of the counts that processes share, in milliseconds. */
@Injectable()
export class LimitTimings {
  /** A decision that takes longer is made here; and then all of them are, until the others answer again. */
  readonly patienceMs: number = 250;
  /** How often counts that are away are asked whether they are back. */
  readonly probeMs: number = 500;
  /** The places of a process that is not heard of for so long are free again. */
  readonly leaseMs: number = 30_000;
  /** How often a process says that its places are still taken. */
  readonly renewMs: number = 10_000;
  /** Reconnect after this time without a response. */
  readonly silenceMs: number = 5000;
}
