import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher, isOutage } from '../database/index.js';
import { within } from '../shared/index.js';
import { SettlementUnavailable } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import type { CallRow } from './call-row.js';

const RETRY_MS = 250;
/** How long the end of an answer waits for a database that has gone. */
const PATIENCE_MS = 30_000;

/**
 * Finished calls on their way into the database. One statement is in flight at a time; what arrives meanwhile is the
 * next batch. While the database is gone, calls wait here and are tried again until it is back.
 */
@Injectable()
export class SettlementQueue implements OnModuleDestroy {
  private readonly logger = new Logger('Settlement');
  private readonly batcher: Batcher<CallRow, bigint | undefined>;
  private readonly waiting = new Set<Promise<unknown>>();
  private closing = false;

  constructor(repository: BillingRepository) {
    this.batcher = new Batcher((batch: readonly CallRow[]) => repository.settle(batch), {
      retryAlone: (error) => !isOutage(error),
    });
  }

  /**
   * Resolves when the call is settled and in the log, with what was collected (undefined: it had been settled before).
   * @throws SettlementUnavailable after `patienceMs` without a database; the call goes on waiting and is settled later
   */
  async settle(row: CallRow, patienceMs = PATIENCE_MS): Promise<bigint | undefined> {
    const settled = this.untilSettled(row);
    this.waiting.add(settled);
    void settled.catch(() => undefined).finally(() => this.waiting.delete(settled));
    const outcome = await within(
      settled.then((collected) => ({ collected })),
      patienceMs,
    );
    if (outcome === undefined) throw new SettlementUnavailable(new Error(`not settled within ${patienceMs} ms`));
    return outcome.collected;
  }

  async onModuleDestroy(): Promise<void> {
    this.closing = true;
    await Promise.allSettled(this.waiting);
  }

  private async untilSettled(row: CallRow): Promise<bigint | undefined> {
    for (;;) {
      try {
        return await this.batcher.submit(row);
      } catch (error) {
        if (!isOutage(error) || this.closing) {
          this.logger.error({ err: error, request_id: row.id }, 'A call could not be settled.');
          throw new SettlementUnavailable(error);
        }
        await sleep(RETRY_MS);
      }
    }
  }
}
