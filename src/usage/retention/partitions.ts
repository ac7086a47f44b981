import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, reasonOf } from '../../shared/index.js';

const MONTHS_AHEAD = 3;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Makes the partitions that calls will be written to: this month's and three more, at start and every day. */
@Injectable()
export class CallPartitions implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Partitions');
  private timer: NodeJS.Timeout | undefined;

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
  async make(): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      // Two processes that make the same partition would trip over each other. This lock lets calls be read and written.
      await manager.query('LOCK TABLE calls IN SHARE UPDATE EXCLUSIVE MODE');
      await manager.query('SELECT create_call_partitions($1, $2)', [this.clock.date(), MONTHS_AHEAD]);
    });
  }

  /** A day's failure is no harm with three months in hand; the next day tries again. */
  private async tryToMake(): Promise<void> {
    await this.make().catch((error: unknown) =>
      this.logger.error(`Partitions of calls could not be made: ${reasonOf(error)}`),
    );
  }
}
