import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs, reasonOf } from '../../shared/index.js';
import { KeyUseSums } from '../../usage/index.js';
import { KeyWatchTimings } from './key-watch-timings.js';
import { NetworkWatch } from './network-watch.js';
import { VolumeWatch } from './volume-watch.js';

/**
 * Looks at what keys are used for, again and again, in the background: sums it up, and has owners told of what is not as
 * usual. Every process that serves tries; one at a time does it. What fails is tried again at the next turn.
 */
@Injectable()
export class KeyWatch implements OnModuleDestroy {
  private readonly logger = new Logger('KeyWatch');
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private volumesMs = -Infinity;
  /** The trouble that is logged already and still lasts. */
  private trouble: string | undefined;

  constructor(
    private readonly sums: KeyUseSums,
    private readonly networks: NetworkWatch,
    private readonly volumes: VolumeWatch,
    private readonly timings: KeyWatchTimings,
  ) {}

  /** From now on, in a process that serves. Nobody waits for it. */
  start(): void {
    this.running ??= this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Once. @throws when the database cannot be asked */
  async look(): Promise<void> {
    // First the sums: what has not been looked at since an upgrade would all seem new.
    while (!(await this.sums.step())) if (this.stopping.signal.aborted) return;
    await this.networks.look();
    if (monotonicMs() - this.volumesMs < this.timings.volumesEveryMs) return;
    await this.volumes.look();
    this.volumesMs = monotonicMs();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.look().then(
        () => (this.trouble = undefined),
        (error: unknown) => this.report(reasonOf(error)),
      );
      await sleep(this.timings.lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** When it begins, and not again while it lasts. */
  private report(trouble: string): void {
    if (this.trouble === trouble || this.stopping.signal.aborted) return;
    this.trouble = trouble;
    this.logger.error(`What keys were used for could not be looked at, and is tried again: ${trouble}`);
  }
}
