import { Injectable } from '@nestjs/common';

/** Timings of shared counts, in milliseconds. Tests override them. */
@Injectable()
export class LimitTimings {
  /** Timeout of a decision. After it, this process decides alone until the store responds again. */
  readonly patienceMs: number = 250;
  /** Interval between health checks of an unreachable store. */
  readonly probeMs: number = 500;
  /** Lease of a process's places; after it, those of a killed process are free. */
  readonly leaseMs: number = 30_000;
  /** Interval between renewals of leases. */
  readonly renewMs: number = 10_000;
  /** Reconnect after this time without a response. */
  readonly silenceMs: number = 5000;
}
