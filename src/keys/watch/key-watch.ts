import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { monotonicMs, reasonOf, RecurringWork } from '../../platform/shared/index.js';
import { KeyUseRollups } from '../../usage/index.js';
import { NetworkWatch } from './network-watch.js';
import { VolumeWatch } from './volume-watch.js';

/** Intervals of the scans, in ms. Tests override them. */
export class KeyWatchTimings {
  /** For networks: a first use is reported within a minute. */
  readonly lookEveryMs: number = 20_000;
  /** For volumes, which requires reading all calls of the last hour. */
  readonly volumesEveryMs: number = 5 * 60_000;
}

/**
 * Rolls up key usage and reports unusual use, in the background. All serving processes try; one at a time runs it.
 * Failures are retried in the next run.
 */
@Injectable()
export class KeyWatch implements OnModuleDestroy {
  private readonly logger = new Logger('KeyWatch');
  private readonly work = new RecurringWork({
    turn: async (stopped) => {
      await this.look(stopped);
      return this.timings.lookEveryMs;
    },
    afterFailureMs: 20_000,
    report: (error) => this.logger.error(`Failed to check key usage; retrying: ${reasonOf(error)}`),
  });
  private volumesMs = -Infinity;

  constructor(
    private readonly sums: KeyUseRollups,
    private readonly networks: NetworkWatch,
    private readonly volumes: VolumeWatch,
    private readonly timings: KeyWatchTimings,
  ) {}

  /** Called by serving processes. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** One run. @throws when the database is unavailable */
  async look(stopped?: AbortSignal): Promise<void> {
    // Rollups first: after an upgrade, everything not rolled up would look new.
    while (!(await this.sums.step())) if (stopped?.aborted === true) return;
    await this.networks.look();
    if (monotonicMs() - this.volumesMs < this.timings.volumesEveryMs) return;
    await this.volumes.look();
    await this.networks.forgetOld();
    this.volumesMs = monotonicMs();
  }
}
