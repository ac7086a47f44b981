import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, reasonOf } from '../../platform/shared/index.js';

const MONTHS_AHEAD = 3;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Max time that a call waits for a lock on the table of calls, in ms. */
const CALL_LOCK_MS = 2000;

/**
 * Creates the partitions that calls are written to: this month's and three more, at start and every day, and those of a
 * call in another month, after the clock has stepped.
 */
@Injectable()
export class CallPartitions implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Partitions');
  private timer: NodeJS.Timeout | undefined;
  /** Times with a partition, as ISO 8601: from the first to before the second. Nothing is known before the first run. */
  private known: readonly [from: string, until: string] = ['', ''];
  private readonly creating = new Map<Month, Promise<void>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.make();
    this.timer = setInterval(() => void this.tryToMake(), DAY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Does nothing, and waits for nobody, where they all exist. */
  make(): Promise<void> {
    return this.create(this.clock.date(), 0);
  }

  /** Whether calls of this time, as ISO 8601 in UTC, can be written as far as is known. Two comparisons. */
  covers(createdAt: string): boolean {
    return createdAt >= this.known[0] && createdAt < this.known[1];
  }

  /**
   * Creates the partitions for calls of this time and the months after it.
   * @param createdAt as ISO 8601; its month is enough
   * @throws when the database does not
   */
  async cover(createdAt: string): Promise<void> {
    const at = new Date(createdAt);
    const month = monthOf(at);
    const running = this.creating.get(month);
    if (running !== undefined) return running;
    const created = this.create(at, CALL_LOCK_MS).finally(() => this.creating.delete(month));
    this.creating.set(month, created);
    return created;
  }

  /** @param lockMs max wait for the lock; 0: none */
  private async create(at: Date, lockMs: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL lock_timeout = ${lockMs}`);
      // Two processes that make the same partition would trip over each other. This lock lets calls be read and written.
      await manager.query('LOCK TABLE calls IN SHARE UPDATE EXCLUSIVE MODE');
      await manager.query('SELECT create_call_partitions($1, $2)', [at, MONTHS_AHEAD]);
    });
    const month = monthOf(at);
    this.known = [startOf(month).toISOString(), startOf(month, MONTHS_AHEAD + 1).toISOString()];
  }

  /** A day's failure is no harm with three months in hand; the next day tries again. */
  private async tryToMake(): Promise<void> {
    await this.make().catch((error: unknown) => this.logger.error(`Failed to create partitions: ${reasonOf(error)}`));
  }
}

/** A month in UTC, as partitions are named by it: `2026_09`. In this form months sort by time. */
export type Month = string;

export const monthOf = (at: Date): Month => at.toISOString().slice(0, 7).replace('-', '_');

/** The first moment of a month, or of one so many months later. */
export function startOf(month: Month, later = 0): Date {
  const [year, number] = month.split('_');
  return new Date(Date.UTC(Number(year), Number(number) - 1 + later, 1));
}

/** The oldest month that is kept, when so many whole ones are kept beside that of this moment. */
export const oldestStoredMonth = (now: Date, months: number): Month => monthOf(startOf(monthOf(now), -months));
