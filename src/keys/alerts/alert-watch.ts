import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { isOutage } from '../../platform/database/index.js';
import { RecurringWork, within } from '../../platform/shared/index.js';
import { AlertPost } from './alert-post.js';
import { KeyNoticeMails } from './key-notice-mails.js';
import { AlertTimings } from './alert-timings.js';
import { ThresholdWatch } from './threshold-watch.js';

/** How long a process that ends waits for a mail that is being handed over. */
const FAREWELL_MS = 10_000;

/**
 * What goes on about alerts beside calls, never on their path: thresholds are looked at, what is unusual about keys is
 * passed on, and what is due is mailed. None waits for another, nor fails with it. What is crossed and mended again
 * between two looks is not noticed.
 */
@Injectable()
export class AlertWatch implements OnModuleDestroy {
  private readonly logger = new Logger('Alerts');
  private readonly works: readonly RecurringWork[];

  constructor(thresholds: ThresholdWatch, keyNotices: KeyNoticeMails, post: AlertPost, timings: AlertTimings) {
    this.works = [
      this.workOf('Failed to scan thresholds.', (stopped) => thresholds.look(stopped)),
      this.workOf('Failed to send key notices.', async () => {
        await keyNotices.look();
        return timings.lookEveryMs;
      }),
      this.workOf('Failed to send alert emails.', async (stopped) => {
        await post.sendDue(stopped);
        return timings.sendEveryMs;
      }),
    ];
  }

  /** From now on, in a process that serves. */
  start(): void {
    for (const work of this.works) work.start();
  }

  async onModuleDestroy(): Promise<void> {
    await within(Promise.all(this.works.map((work) => work.stop())), FAREWELL_MS);
  }

  private workOf(failure: string, turn: (stopped: AbortSignal) => Promise<number>): RecurringWork {
    const report = (error: unknown) => this.logger[isOutage(error) ? 'warn' : 'error']({ err: error }, failure);
    return new RecurringWork({ turn, afterFailureMs: 5_000, report });
  }
}
