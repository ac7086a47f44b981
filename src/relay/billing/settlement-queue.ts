import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher, isOutage } from '../../platform/database/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { monotonicMs, within } from '../../platform/shared/index.js';
import { NotSettled, SettlementUnavailable } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import { type CallRow, unrecordedRow } from './call-row.js';
import { InterruptedCalls } from './sweeper/interrupted-calls.js';

const RETRY_MS = 250;
/** How long the end of an answer waits for a database that has gone. */
const TIMEOUT_MS = 30_000;
/** How long a process that wants to end goes on trying. */
const LAST_TRIES_MS = 5000;
/** With so many calls waiting, no more are admitted. */
const MAX_WAITING = 10_000;

/**
 * A call that waits. Its row may be exchanged until a statement takes it along; one that was sent before, and commits when
 * it is no longer waited for, stands as it was sent: nobody can know of it.
 */
class Waiting {
  /** Ends the patience of whoever waits for it. */
  giveUp = (): void => undefined;
  readonly sinceMs = monotonicMs();
  readonly givenUp = new Promise<undefined>((resolve) => (this.giveUp = () => resolve(undefined)));

  constructor(public row: CallRow) {}

  /** As it is written when it is sent now. */
  get sent(): CallRow {
    return { ...this.row, settle_wait_ms: Math.round(monotonicMs() - this.sinceMs) };
  }
}

/**
 * Finished calls on their way into the database. One statement is in flight at a time; what arrives meanwhile is the
 * next batch. While the database is gone, calls wait here and are tried again until it is back. A call that the database
 * refuses for a reason of its own is put aside, with its whole row, and the others go on.
 */
@Injectable()
export class SettlementQueue {
  private readonly logger = new Logger('Settlement');
  private readonly batcher: Batcher<Waiting, bigint | undefined>;
  private readonly waiting = new InFlight();
  private readonly calls = new Map<string, Waiting>();
  private closing = false;
  private lost = 0;

  constructor(
    private readonly repository: BillingRepository,
    private readonly openCalls: InterruptedCalls,
    metrics: Metrics,
  ) {
    this.batcher = new Batcher(
      (batch: readonly Waiting[]) => repository.settleLatest(() => batch.map(({ sent }) => sent)),
      {
        retryAlone: (error) => !isOutage(error),
      },
    );
    metrics.gauge('unsettled_calls', 'Finished calls waiting for settlement.', [], (gauge) =>
      gauge.set(this.calls.size),
    );
    const age = 'Age of the oldest call waiting for settlement.';
    metrics.gauge('unsettled_oldest_seconds', age, [], (gauge) => gauge.set(this.oldestMs / 1000), 'max');
  }

  /** Whether so much waits to be settled that no call should be begun. */
  get full(): boolean {
    return this.calls.size >= MAX_WAITING;
  }

  /**
   * Resolves when the call is settled and in the log, with what was collected (undefined: it had been settled before).
   * @throws SettlementUnavailable after `patienceMs` without a database, or when it is given up; the call goes on waiting
   * and is settled later, a success then as what its client was told of it. At once, when the call was put aside, or is a
   * refusal that a full queue has no room for
   */
  async settle(row: CallRow, patienceMs = TIMEOUT_MS): Promise<bigint | undefined> {
    // A refusal whose admission was not answered may have a hold to release.
    if (this.full && row.status === 'refused' && !row.opened)
      throw new SettlementUnavailable(new Error('too many calls are waiting'));
    const call = new Waiting(row);
    this.calls.set(row.id, call);
    const settled = this.waiting.add(this.untilSettled(call).finally(() => this.calls.delete(row.id)));
    const recorded = settled.then((collected) => ({ collected }));
    const outcome = await within(Promise.race([recorded, call.givenUp]), patienceMs);
    if (outcome !== undefined) return outcome.collected;
    const error = new SettlementUnavailable(new Error('not settled in time'));
    if (row.status === 'succeeded') call.row = unrecordedRow(row, error);
    throw error;
  }

  /** Ends the patience of whoever waits for this call, as if its time were over. Changes nothing when it is settled. */
  giveUp(callId: string): void {
    this.calls.get(callId)?.giveUp();
  }

  /** Waits for what is not settled yet; without a database not for long. Gives how many calls stay unsettled. */
  async close(): Promise<number> {
    const lastTry = setTimeout(() => (this.closing = true), LAST_TRIES_MS);
    await this.waiting.over();
    clearTimeout(lastTry);
    return this.lost;
  }

  private get oldestMs(): number {
    const oldest = this.calls.values().next().value;
    return oldest === undefined ? 0 : monotonicMs() - oldest.sinceMs;
  }

  private untilSettled(call: Waiting): Promise<bigint | undefined> {
    return this.untilBack(() => this.batcher.submit(call)).catch((error: unknown) => this.putAside(call, error));
  }

  /** @throws what is no outage, and any error when the process wants to end */
  private async untilBack<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!isOutage(error) || this.closing) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  /** @throws SettlementUnavailable */
  private async putAside(call: Waiting, error: unknown): Promise<never> {
    this.logger.error({ err: error, ...whatIsLost(call.row) }, 'Failed to settle a call.');
    try {
      if (isOutage(error)) throw error;
      await this.untilBack(() => this.repository.recordFailure(call.row, error));
      await this.releaseHold(call.row.id);
    } catch (failure) {
      this.lost += 1;
      if (failure !== error) this.logger.error({ err: failure, request_id: call.row.id }, 'Failed to defer it.');
    }
    throw new SettlementUnavailable(error);
  }

  /** Closes the call without a charge until somebody settles it: by what is stored of it, since its own row is refused. */
  private async releaseHold(callId: string): Promise<void> {
    try {
      await this.untilBack(() => this.openCalls.close(callId, new NotSettled()));
    } catch (error) {
      this.logger.error({ err: error, request_id: callId }, 'Its hold remains until this process exits.');
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

/** What is on its way and must be over before the process may end. */
export class InFlight {
  private readonly promises = new Set<Promise<unknown>>();

  add<T>(promise: Promise<T>): Promise<T> {
    const settled = promise.catch(() => undefined).finally(() => this.promises.delete(settled));
    this.promises.add(settled);
    return promise;
  }

  /** Resolves when there is nothing left, what came meanwhile included. */
  async over(): Promise<void> {
    while (this.promises.size > 0) await Promise.all(this.promises);
  }
}
