import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { isOutage } from '../database/index.js';
import { RecurringWork, within } from '../shared/index.js';
import { AlertPost } from './alert-post.js';
import { KeyNoticeMails } from './key-notice-mails.js';
import { ThresholdWatch } from './threshold-watch.js';

/** How long a process that ends waits for a mail that is being handed over. */
const FAREWELL_MS = 10_000;

/**
 * Looks at thresholds every few seconds, never on the path of a call, and mails what was found. What is crossed and
 * mended again between two looks is not noticed.
 */
@Injectable()
export class AlertWatch implements OnModuleDestroy {
  private readonly logger = new Logger('Alerts');
  private readonly work = new RecurringWork({
    turn: async (stopped) => {
      const waitMs = await this.thresholds.look();
      await this.keyNotices.look();
      await this.post.sendDue(stopped);
      return waitMs;
    },
    afterFailureMs: 5_000,
    report: (error) =>
      this.logger[isOutage(error) ? 'warn' : 'error']({ err: error }, 'Thresholds could not be looked at.'),
  });

  constructor(
    private readonly thresholds: ThresholdWatch,
    private readonly keyNotices: KeyNoticeMails,
    private readonly post: AlertPost,
  ) {}

  /** From now on, in a process that serves. */
  start(): void {
    this.work.start();
  }

  async onModuleDestroy(): Promise<void> {
    await within(this.work.stop(), FAREWELL_MS);
  }
}
