import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { actingAs, AuditLog, SYSTEM } from '../audit/index.js';
import { Settings } from '../settings/index.js';
import { Clock, reasonOf } from '../shared/index.js';
import { calendarDate } from '../web/index.js';
import { DroppedMonths } from './dropped-months.repository.js';
import { type Month, oldestKept, startOf } from './month.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Drops the months of calls that are not kept any more, at the start and once a day, the oldest first. One process at a
 * time does so; a month that cannot be dropped is tried again the next day, and no later one before it.
 */
@Injectable()
export class CallRetention implements OnModuleDestroy {
  private readonly logger = new Logger('Retention');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly settings: Settings,
    private readonly months: DroppedMonths,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** From now on, in a process that serves. Nobody waits for it: a month of calls may take long to add up. */
  start(): void {
    this.begin();
    this.timer = setInterval(() => this.begin(), DAY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    await this.running;
  }

  /** From when on calls are kept, as the settings are now; undefined: all are. */
  keptFrom(): Date | undefined {
    const { callsMonths } = this.settings.current().retention;
    return callsMonths === undefined ? undefined : startOf(oldestKept(this.clock.date(), callsMonths));
  }

  /** What is said where calls from this time on are asked for and some of them are not kept; undefined: all are. */
  async missingFrom(time: Date): Promise<string | undefined> {
    const kept = await this.months.keptFrom();
    return kept !== undefined && time < kept
      ? `Calls before ${calendarDate(kept, 'UTC')} are not kept any more.`
      : undefined;
  }

  /** @throws when a month cannot be dropped; those before it are */
  async apply(): Promise<void> {
    const { callsMonths } = this.settings.current().retention;
    if (callsMonths === undefined) return;
    const kept = oldestKept(this.clock.date(), callsMonths);
    for (const month of (await this.months.months()).filter((each) => each < kept)) {
      if (this.stopping) return;
      if (await this.months.hasUnfinished(month)) {
        this.logger.warn(`${titleOf(month)} stay for now: one of them is not settled yet.`);
        return;
      }
      await this.drop(month);
    }
  }

  private async drop(month: Month): Promise<void> {
    await this.months.sumUp(month);
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

  private begin(): void {
    this.running ??= this.apply()
      .catch((error: unknown) => this.logger.error(`Old calls could not be dropped: ${reasonOf(error)}`))
      .finally(() => (this.running = undefined));
  }
}

/** The oldest month that is left begins where this one ends. */
const titleOf = (month: Month): string => `calls before ${calendarDate(startOf(month, 1), 'UTC')}`;
