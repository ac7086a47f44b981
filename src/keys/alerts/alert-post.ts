import { Injectable, Logger } from '@nestjs/common';
import { Mailer, type Offered } from '../../platform/mail/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import type { AlertKind, DueAlert } from './alert.js';
import { AlertMails } from './alert-mails.js';
import { AlertBook } from './alert-book.js';
import { AlertTimings } from './alert-timings.js';

/**
 * Sends what is due, one mail after another, each by one process alone: taken up, handed to the mail server, noted as
 * sent. What could not be handed over is tried again by whichever process lives.
 *
 * A process may die, or lose its database, between the last two steps: nobody can know then whether the mail went out,
 * and another process sends it, once what it was taken up for has passed. So in this window a warning may come twice. The
 * other way round it would be lost, and a call refused that nobody was warned of: that is worse.
 */
@Injectable()
export class AlertPost {
  private readonly logger = new Logger('Alerts');
  private readonly told;
  /** What became of mails, until the database knows. */
  private readonly unrecorded = new Map<string, 'sent' | 'refused'>();

  constructor(
    private readonly alerts: AlertBook,
    private readonly mails: AlertMails,
    private readonly mailer: Mailer,
    private readonly timings: AlertTimings,
    metrics: Metrics,
  ) {
    this.told = metrics.counter('alerts_total', 'Alert emails to users.', ['kind', 'outcome']);
  }

  /** Until none is due, the mail server is away, or somebody wants it to stop. @throws when the database is away */
  async sendDue(stop: AbortSignal): Promise<void> {
    for (const [id, state] of this.unrecorded) await this.record(id, state);
    await this.dropStale();
    while (!stop.aborted) {
      const alert = await this.alerts.claim(this.timings.claimMs);
      if (alert === undefined || (await this.send(alert)) === 'away') return;
    }
  }

  private async send(alert: DueAlert): Promise<Offered> {
    const outcome = await this.mailer.offer(this.mails.mailOf(alert));
    if (outcome === 'away') await this.alerts.postpone(alert.id, this.pauseAfter(alert.tries));
    else {
      this.count(alert.kind, outcome);
      this.unrecorded.set(alert.id, outcome);
      await this.record(alert.id, outcome);
    }
    return outcome;
  }

  private async record(id: string, state: 'sent' | 'refused'): Promise<void> {
    await this.alerts.end(id, state);
    this.unrecorded.delete(id);
  }

  private async dropStale(): Promise<void> {
    const dropped = await this.alerts.dropStale(this.timings.staleAfterMs);
    for (const kind of dropped) this.count(kind, 'stale');
    if (dropped.length > 0) this.logger.warn(`Dropped ${dropped.length} alert emails that could not be sent in time.`);
  }

  private count(kind: AlertKind, outcome: 'sent' | 'refused' | 'stale'): void {
    this.told.inc({ kind, outcome });
  }

  private pauseAfter(tries: number): number {
    const { firstRetryMs, longestRetryMs } = this.timings;
    return Math.min(firstRetryMs * 2 ** (tries - 1), longestRetryMs);
  }
}
