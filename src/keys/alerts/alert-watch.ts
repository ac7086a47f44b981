import { Injectable, Logger, Module, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuthModule } from '../../auth/index.js';
import { ADVISORY_LOCKS, isOutage, soleTransaction } from '../../platform/database/index.js';
import { MailModule } from '../../platform/mail/index.js';
import { MetricsModule } from '../../platform/metrics/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { RecurringWork, within } from '../../platform/shared/index.js';
import { WalletModule } from '../../wallet/index.js';
import { KeysModule } from '../index.js';
import { AccountNotices, AlertPreferences } from './account-notices.js';
import { AlertMails, KeyNoticeMails } from './alert-mails.js';
import { AlertQueue, AlertSender } from './alert-sender.js';
import { AlertTimings } from './alert.js';
import { ThresholdCrossings, type ScanProgress, ThresholdScans } from './threshold-crossings.js';

/** Accounts per statement. */
const BATCH = 1_000;
/** Accounts checked in rotation per scan. */
const ROTATION_BATCH = 1_000;
/**
 * Max delay between an entry's timestamp and its commit: a settlement takes up to 8 s. Later entries, such as after a
 * failover to a server whose clock is behind, are found by the rotation.
 */
const OVERLAP_MS = 30_000;
/** Pause after a scan, as a multiple of its duration: scans take at most an eleventh of one connection. */
const PAUSE_FACTOR = 10;

/**
 * Detects crossed and cleared thresholds: for accounts whose balance changed since the last scan, that changed a
 * threshold or a limit, or that created a key; and for 1,000 others in rotation, so that every account is checked
 * within minutes. The rotation covers what causes no event: approaching expiry dates and re-enabled accounts.
 */
@Injectable()
export class ThresholdWatch {
  constructor(
    private readonly dataSource: DataSource,
    private readonly scans: ThresholdScans,
    private readonly crossings: ThresholdCrossings,
    private readonly timings: AlertTimings,
  ) {}

  /**
   * Scans, unless another process does or recently did. An interrupted scan is restarted by the next.
   * @returns ms until the next scan may run
   * @throws when aborted
   */
  async scan(stopped?: AbortSignal): Promise<number> {
    const waitMs = await soleTransaction(this.dataSource, ADVISORY_LOCKS.alerts, async (manager) => {
      const progress = await this.scans.progress(manager);
      return progress.waitMs > 0 ? progress.waitMs : this.scanFrom(progress, manager, stopped);
    });
    return waitMs ?? this.timings.scanEveryMs;
  }

  private async scanFrom(progress: ScanProgress, manager: EntityManager, stopped?: AbortSignal): Promise<number> {
    await this.scans.limitStatements(manager);
    const changed = await this.scans.withChangedBalance(
      new Date(progress.balancesUntil.getTime() - OVERLAP_MS),
      manager,
    );
    const rechecks = await this.scans.takeRechecks(manager);
    const rotation = await this.scans.nextInRotation(progress.scannedTo, ROTATION_BATCH, manager);
    await this.compare([...new Set([...changed, ...rechecks, ...rotation])], stopped);
    const scannedTo = rotation.length < ROTATION_BATCH ? '' : rotation.at(-1);
    return this.scans.saveProgress(scannedTo ?? '', { ms: this.timings.scanEveryMs, times: PAUSE_FACTOR }, manager);
  }

  /** One transaction per batch, so that found alerts can be emailed before the scan ends. */
  private async compare(accountIds: readonly string[], stopped?: AbortSignal): Promise<void> {
    for (let from = 0; from < accountIds.length; from += BATCH) {
      stopped?.throwIfAborted();
      await this.dataSource.transaction(async (manager) => {
        await this.scans.limitStatements(manager);
        await this.crossings.update(accountIds.slice(from, from + BATCH), manager);
      });
    }
  }
}

/** Max wait for a running delivery at shutdown. */
const SHUTDOWN_WAIT_MS = 10_000;

/**
 * Runs alert work in the background, never in the path of calls: checks thresholds, raises notices about keys, and
 * sends due emails, independently of each other. A threshold that is crossed and cleared between two scans goes
 * unnoticed.
 */
@Injectable()
export class AlertWatch implements OnModuleDestroy {
  private readonly logger = new Logger('Alerts');
  private readonly works: readonly RecurringWork[];

  constructor(thresholds: ThresholdWatch, keyNotices: KeyNoticeMails, sender: AlertSender, timings: AlertTimings) {
    this.works = [
      this.workOf('Failed to scan thresholds.', (stopped) => thresholds.scan(stopped)),
      this.workOf('Failed to send key notices.', async () => {
        await keyNotices.scan();
        return timings.scanEveryMs;
      }),
      this.workOf('Failed to send alert emails.', async (stopped) => {
        await sender.sendDue(stopped);
        return timings.sendEveryMs;
      }),
    ];
  }

  /** Called by serving processes. */
  start(): void {
    for (const work of this.works) work.start();
  }

  async onModuleDestroy(): Promise<void> {
    await within(Promise.all(this.works.map((work) => work.stop())), SHUTDOWN_WAIT_MS);
  }

  private workOf(failure: string, run: (stopped: AbortSignal) => Promise<number>): RecurringWork {
    const report = (error: unknown) => this.logger[isOutage(error) ? 'warn' : 'error']({ err: error }, failure);
    return new RecurringWork({ run, afterFailureMs: 5_000, report });
  }
}

@Module({
  imports: [AuthModule, KeysModule, MailModule, MetricsModule, SettingsModule, WalletModule],
  providers: [
    AlertPreferences,
    AlertQueue,
    AlertTimings,
    AlertMails,
    ThresholdScans,
    ThresholdCrossings,
    ThresholdWatch,
    AlertSender,
    AlertWatch,
    AccountNotices,
    KeyNoticeMails,
  ],
  exports: [AccountNotices, AlertPreferences, AlertWatch, AlertQueue, KeyNoticeMails, ThresholdWatch],
})
export class AlertsModule {}
