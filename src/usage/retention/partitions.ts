import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, reasonOf } from '../../platform/shared/index.js';

const MONTHS_AHEAD = 3;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Max time that a call waits for a lock on the table of calls, in ms. */
const CALL_LOCK_MS = 2000;

/**
 * Creates partitions of calls: this month's and three more, at start and daily, and those for calls in other months
 * after the clock was changed.
 */
@Injectable()
export class CallPartitions implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Partitions');
  private timer: NodeJS.Timeout | undefined;
  /** Range of times with partitions, as ISO 8601; empty before the first run. */
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

  /** Returns immediately without locks if they exist. */
  make(): Promise<void> {
    return this.create(this.clock.date(), 0);
  }

  /** Whether a partition for this time (ISO 8601, UTC) is known to exist. Two comparisons. */
  covers(createdAt: string): boolean {
    return createdAt >= this.known[0] && createdAt < this.known[1];
  }

  /**
   * Creates partitions for this time and the following months.
   * @param createdAt ISO 8601
   * @throws database errors
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
      // Serializes concurrent creation without blocking reads and writes of calls.
      await manager.query('LOCK TABLE calls IN SHARE UPDATE EXCLUSIVE MODE');
      await manager.query('SELECT create_call_partitions($1, $2)', [at, MONTHS_AHEAD]);
    });
    const month = monthOf(at);
    this.known = [startOf(month).toISOString(), startOf(month, MONTHS_AHEAD + 1).toISOString()];
  }

  /** Three months in advance leave room for failed days; retried the next day. */
  private async tryToMake(): Promise<void> {
    await this.make().catch((error: unknown) => this.logger.error(`Failed to create partitions: ${reasonOf(error)}`));
  }
}

/** A UTC month, as in partition names: `2026_09`. Sortable. */
export type Month = string;

export const monthOf = (at: Date): Month => at.toISOString().slice(0, 7).replace('-', '_');

/** Start of a month, or of one `later` months later. */
export function startOf(month: Month, later = 0): Date {
  const [year, number] = month.split('_');
  return new Date(Date.UTC(Number(year), Number(number) - 1 + later, 1));
}

/** The oldest month to keep, given the number of whole months besides the current one. */
export const oldestStoredMonth = (now: Date, months: number): Month => monthOf(startOf(monthOf(now), -months));
