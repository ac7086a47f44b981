import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADVISORY_LOCKS } from '../database/index.js';
import { reasonOf, RecurringWork } from '../shared/index.js';

/** How often calls are summed up. Tests take a shorter time. */
export class RollerTimings {
  readonly everyMs: number = 60_000;
}

/** `more`: there are more to be summed up. False: another process is at it. */
const STEP = 'SELECT CASE WHEN pg_try_advisory_xact_lock($1) THEN sum_up_usage() ELSE false END AS more';

/**
 * Sums finished calls up by quarters of an hour (`usage_slots`), the oldest first, up to an hour ago: after an upgrade or
 * a restore all of them, otherwise one more quarter now and then. One process at a time does so. What is younger, or not
 * summed up yet, is read call by call; a call that is settled after its time was summed up is added by the database.
 */
@Injectable()
export class UsageRoller implements OnModuleDestroy {
  private readonly logger = new Logger('Usage');
  private readonly work = new RecurringWork({
    turn: async (stopped) => {
      await this.roll(stopped);
      return this.timings.everyMs;
    },
    afterFailureMs: 60_000,
    report: (error) => this.logger.error(`Calls could not be summed up, and are tried again: ${reasonOf(error)}`),
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly timings: RollerTimings,
  ) {}

  /** From now on, in a process that serves. Nobody waits for it: very many calls may take minutes to add up. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** Until there is nothing more to sum up, in steps of some 20,000 calls: a late call waits for one step at most. */
  async roll(stopped?: AbortSignal): Promise<void> {
    let more = true;
    while (more) {
      if (stopped?.aborted === true) return;
      const [row] = await this.dataSource.query<{ more: boolean }[]>(STEP, [ADVISORY_LOCKS.rollup]);
      more = row?.more ?? false;
    }
  }
}
