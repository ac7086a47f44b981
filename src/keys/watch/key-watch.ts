import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { monotonicMs, reasonOf, RecurringWork } from '../../platform/shared/index.js';
import { KeyUseRollups } from '../../usage/index.js';
import { NetworkWatch } from './network-watch.js';
import { VolumeWatch } from './volume-watch.js';

/** How often it is looked at what keys are used for, in ms. Tests take shorter times. */
export class KeyWatchTimings {
  /** For networks: a first use is known within a minute. */
  readonly lookEveryMs: number = 20_000;
  /** For volumes: all calls of the last hour are read for it. */
  readonly volumesEveryMs: number = 5 * 60_000;
}

/**
 * Looks at what keys are used for, again and again, in the background: sums it up, and has owners told of what is not as
 * usual. Every process that serves tries; one at a time does it. What fails is tried again at the next turn.
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

  /** From now on, in a process that serves. Nobody waits for it. */
  start(): void {
    this.work.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  /** Once. @throws when the database cannot be asked */
  async look(stopped?: AbortSignal): Promise<void> {
    // First the sums: what has not been looked at since an upgrade would all seem new.
    while (!(await this.sums.step())) if (stopped?.aborted === true) return;
    await this.networks.look();
    if (monotonicMs() - this.volumesMs < this.timings.volumesEveryMs) return;
    await this.volumes.look();
    await this.networks.forgetOld();
    this.volumesMs = monotonicMs();
  }
}
