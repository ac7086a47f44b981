import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { reasonOf, RecurringWork } from '../../platform/shared/index.js';

/** How often calls are summed up, or tried to be. Tests take a shorter time. */
export class RollerTimings {
  readonly everyMs: number = 60_000;
}

/**
 * Sums finished calls up by quarters of an hour (`usage_slots`), the oldest first, up to an hour ago: after an upgrade or
 * a restore all of them, otherwise one more quarter now and then. One process at a time does so. What is younger, or not
 * summed up yet, is read call by call; a call that is settled after its time was summed up is added by the database.
 */
@Injectable()
export class UsageRoller implements OnModuleDestroy {
  private readonly logger = new Logger('Usage');
  private readonly work: RecurringWork;

  constructor(
    private readonly dataSource: DataSource,
    { everyMs }: RollerTimings,
  ) {
    this.work = new RecurringWork({
      turn: async (stopped) => {
        await this.roll(stopped);
        return everyMs;
      },
      afterFailureMs: everyMs,
      report: (error) => this.logger.error(`Failed to roll up calls; retrying: ${reasonOf(error)}`),
    });
  }

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
      more = (await soleTransaction(this.dataSource, ADVISORY_LOCKS.rollup, sumUp)) ?? false;
    }
  }
}

/** @returns whether there are more to be summed up */
async function sumUp(manager: EntityManager): Promise<boolean> {
  const [row] = await manager.query<{ more: boolean }[]>('SELECT sum_up_usage() AS more');
  return row?.more ?? false;
}
