import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { AppError, reasonOf, RecurringWork } from '../../platform/shared/index.js';
import { AllowanceCalendar } from './allowance-calendar.js';
import { AllowanceRepository } from './allowance.repository.js';
import { AllowanceService } from './allowance.service.js';

/** How long allowances that are due may wait, in ms, where the month has not just begun. Tests take a shorter one. */
export class AllowancePeriod {
  readonly ms: number = 60_000;
}

/** So many accounts are looked up at once. */
const PAGE = 500;

/**
 * Turns the allowances of all accounts when a month begins, and at the start: of months that nobody was running in,
 * nothing is given. One process at a time does so, an account in each transaction, so that none waits behind many. Who is
 * enabled again, or could not be given theirs, is found when it looks again.
 */
@Injectable()
export class AllowanceTurn implements OnModuleDestroy {
  private readonly logger = new Logger('Allowances');
  private readonly work = new RecurringWork({
    turn: async (stopped) => {
      await this.turnAll(stopped);
      return Math.min(this.period.ms, await this.untilNextMonthMs());
    },
    afterFailureMs: 60_000,
    report: (error) => this.logger.error(`Failed to grant allowances; retrying: ${reasonOf(error)}`),
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly allowances: AllowanceRepository,
    private readonly service: AllowanceService,
    private readonly calendar: AllowanceCalendar,
    private readonly period: AllowancePeriod,
  ) {}

  /** From now on, in a process that serves. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** Turns what is due, unless another process is at it. */
  async turnAll(stopped?: AbortSignal): Promise<void> {
    const { month } = await this.calendar.now(this.dataSource.manager);
    let accounts: readonly string[];
    let last = '';
    do {
      accounts = await this.allowances.due(month, last, PAGE);
      for (const id of accounts) {
        if (stopped?.aborted === true || !(await this.turn(id))) return;
        last = id;
      }
    } while (accounts.length === PAGE);
  }

  /** @returns whether it was for us to do so */
  private async turn(id: string): Promise<boolean> {
    try {
      const turned = await soleTransaction(this.dataSource, ADVISORY_LOCKS.allowances, async (manager) => {
        await this.service.turn(id, manager);
        return true;
      });
      return turned ?? false;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.logger.error(`Failed to grant the allowance of account ${id}: ${reasonOf(error)}`);
      return true;
    }
  }

  private async untilNextMonthMs(): Promise<number> {
    const { at, next } = await this.calendar.now(this.dataSource.manager);
    // The database counts in microseconds: a millisecond too soon would find the old month.
    return next.getTime() - at.getTime() + 1;
  }
}
