import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS, isOutage, soleTransaction } from '../../platform/database/index.js';
import { RecurringWork, within } from '../../platform/shared/index.js';
import { KeyNoticeMails } from './alert-mails.js';
import { AlertPost } from './alert-post.js';
import { AlertTimings } from './alert.js';
import { Crossings, type ScanProgress, ThresholdScans } from './crossings.js';

/** So many accounts are compared with their thresholds by one statement. */
const BATCH = 1_000;
/** So many have their turn at each look. */
const TURNS = 1_000;
/**
 * An entry of the ledger is committed within this time after the database took it in: a settlement within 8 s. Where that
 * takes longer, or a database server takes over whose clock is farther behind, the account has to wait for its turn.
 */
const OVERLAP_MS = 30_000;
/** Nobody looks for so many times as long as a look took: it takes no more than an eleventh of one connection. */
const REST_TIMES = 10;

/**
 * Finds what is crossed and what is not any more: of those whose money was moved since the last look, of those who changed
 * a threshold or a limit or made a key, and of a thousand others, so that everybody has a turn within minutes. That is for
 * what nothing is heard of: an expiry that comes near, an account that is enabled again.
 */
@Injectable()
export class ThresholdWatch {
  constructor(
    private readonly dataSource: DataSource,
    private readonly looks: ThresholdScans,
    private readonly crossings: Crossings,
    private readonly timings: AlertTimings,
  ) {}

  /**
   * Looks, unless another process is at it or has just been. One that does not come to its end is begun anew by the next.
   * @returns how many ms later it may be time for the next look
   * @throws when it is stopped
   */
  async look(stopped?: AbortSignal): Promise<number> {
    const waitMs = await soleTransaction(this.dataSource, ADVISORY_LOCKS.alerts, async (manager) => {
      const progress = await this.looks.progress(manager);
      return progress.earlyMs > 0 ? progress.earlyMs : this.lookFrom(progress, manager, stopped);
    });
    return waitMs ?? this.timings.lookEveryMs;
  }

  private async lookFrom(progress: ScanProgress, manager: EntityManager, stopped?: AbortSignal): Promise<number> {
    await this.looks.limitStatements(manager);
    const moved = await this.looks.moved(new Date(progress.movedUntil.getTime() - OVERLAP_MS), manager);
    const changed = await this.looks.takeChanged(manager);
    const inTurn = await this.looks.nextInTurn(progress.lookedTo, TURNS, manager);
    await this.compare([...new Set([...moved, ...changed, ...inTurn])], stopped);
    const lookedTo = inTurn.length < TURNS ? '' : inTurn.at(-1);
    return this.looks.advance(lookedTo ?? '', { ms: this.timings.lookEveryMs, times: REST_TIMES }, manager);
  }

  /** Each batch in a transaction of its own: whoever mails alerts waits for one at most, and has those that it found. */
  private async compare(accountIds: readonly string[], stopped?: AbortSignal): Promise<void> {
    for (let from = 0; from < accountIds.length; from += BATCH) {
      stopped?.throwIfAborted();
      await this.dataSource.transaction(async (manager) => {
        await this.looks.limitStatements(manager);
        await this.crossings.note(accountIds.slice(from, from + BATCH), manager);
      });
    }
  }
}

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
