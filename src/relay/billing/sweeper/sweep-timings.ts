import { Injectable } from '@nestjs/common';

/** How it is told that a process has died, in milliseconds. The same in every process that shares a database. */
@Injectable()
export class SweepTimings {
  /** A process says so often that it lives. */
  readonly heartbeatMs: number = 10_000;
  /** One that has been silent for longer counts as dead. */
  readonly deadAfterMs: number = 60_000;
  /** So long passes between a look for the dead and the next. */
  readonly sweepEveryMs: number = 15_000;
}
