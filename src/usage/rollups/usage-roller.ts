import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { reasonOf, RecurringWork } from '../../platform/shared/index.js';

/** Interval between rollups. Tests override it. */
export class RollerTimings {
  readonly everyMs: number = 60_000;
}

/**
 * Rolls up finished calls in 15-minute buckets (`usage_slots`), oldest first, up to one hour ago: all of them after an
 * upgrade or a restore, otherwise one bucket at a time. One process at a time. Younger calls are read individually;
 * calls settled after their bucket was rolled up are added by the database.
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
      run: async (stopped) => {
        await this.roll(stopped);
        return everyMs;
      },
      afterFailureMs: everyMs,
      report: (error) => this.logger.error(`Failed to roll up calls; retrying: ${reasonOf(error)}`),
    });
  }

  /** Called by serving processes. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** Rolls up everything due in steps of about 20,000 calls, so that late calls wait for one step at most. */
  async roll(stopped?: AbortSignal): Promise<void> {
    let more = true;
    while (more) {
      if (stopped?.aborted === true) return;
      more = (await soleTransaction(this.dataSource, ADVISORY_LOCKS.rollup, rollUp)) ?? false;
    }
  }
}

/** @returns whether there is more to roll up */
async function rollUp(manager: EntityManager): Promise<boolean> {
  const [row] = await manager.query<{ more: boolean }[]>('SELECT sum_up_usage() AS more');
  return row?.more ?? false;
}
