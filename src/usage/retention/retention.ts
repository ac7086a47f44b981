import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { actingAs, AuditLog, SYSTEM } from '../../platform/audit/index.js';
import { calendarDate } from '../../platform/format/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Clock, reasonOf, RecurringWork } from '../../platform/shared/index.js';
import { type Query, TimeLimitedReads } from '../time-limited-reads.js';
import { DroppedMonths } from './dropped-months.repository.js';
import { type Month, oldestStoredMonth, startOf } from './partitions.js';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Drops months of calls beyond the retention period, at start and daily, oldest first, in one process at a time. A
 * month with unsettled calls is retried the next day, one that could not be dropped within the hour; later months wait
 * for it.
 */
@Injectable()
export class CallRetention implements OnModuleDestroy {
  private readonly logger = new Logger('Retention');
  private readonly work = new RecurringWork({
    run: async (stopped) => {
      await this.apply(stopped);
      return DAY_MS;
    },
    afterFailureMs: HOUR_MS,
    report: (error) => this.logger.error(`Failed to drop old calls; retrying in an hour: ${reasonOf(error)}`),
  });

  constructor(
    private readonly settings: Settings,
    private readonly months: DroppedMonths,
    private readonly reads: TimeLimitedReads,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Called by serving processes. Rolling up a month may take long. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** Start of the retained period by current settings; undefined: everything is kept. */
  keptFrom(): Date | undefined {
    const { callsMonths } = this.settings.current().retention;
    return callsMonths === undefined ? undefined : startOf(oldestStoredMonth(this.clock.date(), callsMonths));
  }

  /** A note if calls from this time on are incomplete; undefined: complete. */
  missingFrom(time: Date): Promise<string | undefined> {
    return this.reads.read((query) => missingCalls(query, time));
  }

  /** @throws when a month cannot be dropped; earlier ones stay dropped */
  async apply(stopped?: AbortSignal): Promise<void> {
    const { callsMonths } = this.settings.current().retention;
    if (callsMonths === undefined) return;
    const kept = oldestStoredMonth(this.clock.date(), callsMonths);
    for (const month of (await this.months.months()).filter((each) => each < kept)) {
      if (stopped?.aborted === true) return;
      if (await this.months.hasUnfinished(month)) {
        this.logger.warn(`Not deleting ${titleOf(month)} yet: one of them is not settled.`);
        return;
      }
      if (!(await this.months.rollUp(month, stopped))) return;
      await this.drop(month);
    }
  }

  private async drop(month: Month): Promise<void> {
    const calls = await actingAs(SYSTEM, () =>
      this.months.drop(month, (count, manager) =>
        this.audit.record(
          {
            action: 'dropped',
            object: { kind: 'calls', id: month, name: titleOf(month) },
            lines: [count === 1 ? '1 row' : `${count.toLocaleString('en')} rows`],
          },
          manager,
        ),
      ),
    );
    if (calls !== undefined) this.logger.log({ month, calls }, `${titleOf(month)} were dropped.`);
  }
}

/** The oldest remaining month begins where this one ends. */
const titleOf = (month: Month): string => `calls before ${calendarDate(startOf(month, 1), 'UTC')}`;

/** Null: nothing was dropped. */
const KEPT_FROM = `SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' AS kept FROM dropped_calls`;

/** A note if calls from this time on are incomplete; undefined: complete. */
export async function missingCalls(query: Query, time: Date): Promise<string | undefined> {
  const [row] = await query<{ kept: Date | null }>(KEPT_FROM);
  const kept = row?.kept ?? time;
  return time < kept ? `Calls before ${calendarDate(kept, 'UTC')} have been deleted.` : undefined;
}
