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
 * Drops the months of calls that are not kept any more, at the start and once a day, the oldest first. One process at a
 * time does so. A month that waits for a settlement is looked at again the next day, one that could not be dropped within
 * the hour; no later one is dropped before it.
 */
@Injectable()
export class CallRetention implements OnModuleDestroy {
  private readonly logger = new Logger('Retention');
  private readonly work = new RecurringWork({
    turn: async (stopped) => {
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

  /** From now on, in a process that serves. Nobody waits for it: a month of calls may take long to add up. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** From when on calls are kept, as the settings are now; undefined: all are. */
  keptFrom(): Date | undefined {
    const { callsMonths } = this.settings.current().retention;
    return callsMonths === undefined ? undefined : startOf(oldestStoredMonth(this.clock.date(), callsMonths));
  }

  /** What is said where calls from this time on are asked for and some of them are not kept; undefined: all are. */
  missingFrom(time: Date): Promise<string | undefined> {
    return this.reads.read((query) => missingCalls(query, time));
  }

  /** @throws when a month cannot be dropped; those before it are */
  async apply(stopped?: AbortSignal): Promise<void> {
    const { callsMonths } = this.settings.current().retention;
    if (callsMonths === undefined) return;
    const kept = oldestStoredMonth(this.clock.date(), callsMonths);
    for (const month of (await this.months.months()).filter((each) => each < kept)) {
      if (stopped?.aborted === true) return;
      if (await this.months.hasUnfinished(month)) {
        this.logger.warn(`${titleOf(month)} are kept for now: one of them is not settled yet.`);
        return;
      }
      if (!(await this.months.sumUp(month, stopped))) return;
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

/** The oldest month that is left begins where this one ends. */
const titleOf = (month: Month): string => `calls before ${calendarDate(startOf(month, 1), 'UTC')}`;

/** Null: none was ever dropped. */
const KEPT_FROM = `SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' AS kept FROM dropped_calls`;

/** What is said where calls from this time on are asked for and some of them are not kept; undefined: all are. */
export async function missingCalls(query: Query, time: Date): Promise<string | undefined> {
  const [row] = await query<{ kept: Date | null }>(KEPT_FROM);
  const kept = row?.kept ?? time;
  return time < kept ? `Calls before ${calendarDate(kept, 'UTC')} have been deleted.` : undefined;
}
