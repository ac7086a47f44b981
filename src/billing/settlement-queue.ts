import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher, isOutage } from '../database/index.js';
import { within } from '../shared/index.js';
import { SettlementUnavailable } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import type { CallRow } from './call-row.js';
import { InFlight } from './in-flight.js';

const RETRY_MS = 250;
/** How long the end of an answer waits for a database that has gone. */
const PATIENCE_MS = 30_000;
/** How long a process that wants to end goes on trying. */
const LAST_TRIES_MS = 5000;

/**
 * Finished calls on their way into the database. One statement is in flight at a time; what arrives meanwhile is the
 * next batch. While the database is gone, calls wait here and are tried again until it is back.
 */
@Injectable()
export class SettlementQueue {
  private readonly logger = new Logger('Settlement');
  private readonly batcher: Batcher<CallRow, bigint | undefined>;
  private readonly waiting = new InFlight();
  private closing = false;
  private lost = 0;

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
    const settled = this.waiting.add(this.untilSettled(row));
    const outcome = await within(
      settled.then((collected) => ({ collected })),
      patienceMs,
    );
    if (outcome === undefined) throw new SettlementUnavailable(new Error(`not settled within ${patienceMs} ms`));
    return outcome.collected;
  }

  /** Waits for what is not settled yet; without a database not for long. Gives how many calls stay unsettled. */
  async close(): Promise<number> {
    const lastTry = setTimeout(() => (this.closing = true), LAST_TRIES_MS);
    await this.waiting.over();
    clearTimeout(lastTry);
    return this.lost;
  }

  private async untilSettled(row: CallRow): Promise<bigint | undefined> {
    for (;;) {
      try {
        return await this.batcher.submit(row);
      } catch (error) {
        if (!isOutage(error) || this.closing) {
          if (this.closing) this.lost += 1;
          this.logger.error({ err: error, ...whatIsLost(row) }, 'A call could not be settled.');
          throw new SettlementUnavailable(error);
        }
        await sleep(RETRY_MS);
      }
    }
  }
}

/** What an operator needs to put it right by hand. */
const whatIsLost = (row: CallRow): object => ({
  request_id: row.id,
  key_id: row.key_id,
  model: row.model,
  status: row.status,
  billing_basis: row.billing_basis,
  cost_nanos: row.cost,
});
