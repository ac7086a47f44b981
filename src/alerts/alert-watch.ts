import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../database/index.js';
import { within } from '../shared/index.js';
import { AlertPost } from './alert-post.js';
import { AlertBook } from './alert-book.js';
import { KeyNoticeMails } from './key-notice-mails.js';
import { AlertTimings } from './alert-timings.js';

/** How long a process that ends waits for a mail that is being handed over. */
const FAREWELL_MS = 10_000;

/**
 * Looks at all thresholds every few seconds, never on the path of a call, and mails what was found. What is crossed and
 * mended again between two looks is not noticed.
 */
@Injectable()
export class AlertWatch implements OnModuleDestroy {
  private readonly logger = new Logger('Alerts');
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** Told already, and still so. */
  private inTrouble = false;

  constructor(
    private readonly alerts: AlertBook,
    private readonly keyNotices: KeyNoticeMails,
    private readonly post: AlertPost,
    private readonly timings: AlertTimings,
  ) {}

  /** From now on, in a process that serves. */
  start(): void {
    this.running ??= this.run();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    if (this.running !== undefined) await within(this.running, FAREWELL_MS);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await this.round();
      await sleep(this.timings.lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async round(): Promise<void> {
    try {
      await this.alerts.look();
      await this.keyNotices.look();
      await this.post.sendDue(this.stopping.signal);
      this.inTrouble = false;
    } catch (error) {
      if (!this.inTrouble)
        this.logger[isOutage(error) ? 'warn' : 'error']({ err: error }, 'Thresholds could not be looked at.');
      this.inTrouble = true;
    }
  }
}
