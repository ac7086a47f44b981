import { Injectable, Logger } from '@nestjs/common';
import { Batcher, DatabasePools, isOutage } from '../../../platform/database/index.js';
import type { AppError } from '../../../platform/shared/index.js';
import { ProcessDied } from '../billing.errors.js';
import { BillingRepository } from '../billing.repository.js';
import { callLine, type CallRow, type OpenCall } from '../call-row.js';
import { CallMetrics } from '../billing-metrics.js';
import { interruptedRow } from '../finished-row.js';

/** Calls per page. */
const PAGE = 256;

/**
 * Closes calls whose process died or whose settlement was rejected: holds are released and nothing is charged. Uses
 * regular settlement, so that concurrent settlement closes the call once; if the process is alive after all, its own
 * settlement replaces this one.
 */
@Injectable()
export class InterruptedCalls {
  private readonly logger = new Logger('Call');
  private readonly batcher: Batcher<CallRow, bigint | undefined>;

  constructor(
    private readonly pools: DatabasePools,
    private readonly repository: BillingRepository,
    private readonly metrics: CallMetrics,
  ) {
    this.batcher = new Batcher((batch: readonly CallRow[]) => repository.settle(batch), {
      retryAlone: (error) => !isOutage(error),
    });
  }

  /**
   * Closes one call, by default as if its process had died. No effect if it is not open. The caller counts it in
   * metrics.
   */
  async close(id: string, why: AppError = new ProcessDied()): Promise<void> {
    const { rows } = await this.pools.settlement.query<OpenCallLine>(ONE, [id]);
    for (const line of rows) await this.closeOne(openCall(line), why);
  }

  /**
   * Closes all open calls of these processes until aborted. Returns the number closed and errors of the others, which
   * stay open.
   * @throws when the calls cannot be read
   */
  async closeAllOf(processIds: readonly string[], stop: AbortSignal): Promise<{ closed: number; failures: unknown[] }> {
    const failures: unknown[] = [];
    const why = new ProcessDied();
    let closed = 0;
    for (let last = ''; !stop.aborted;) {
      const { rows } = await this.pools.settlement.query<OpenCallLine>(OF_PROCESSES, [processIds, last, PAGE]);
      const results = await Promise.allSettled(rows.map((line) => this.closeOne(openCall(line), why)));
      for (const result of results) {
        if (result.status === 'rejected') failures.push(result.reason);
        else if (result.value !== undefined) {
          closed += 1;
          this.metrics.count(result.value);
        }
      }
      last = rows.at(-1)?.id ?? '';
      if (rows.length < PAGE) break;
    }
    return { closed, failures };
  }

  /** Releases holds placed after their call had been given up and settled. */
  async releaseLateHolds(): Promise<void> {
    const calls = await this.repository.releaseSettledHolds();
    if (calls > 0) this.logger.warn({ calls }, 'Released holds that were placed after their calls had been settled.');
  }

  /** Its row; undefined if it was closed concurrently. */
  private async closeOne(call: OpenCall, why: AppError): Promise<CallRow | undefined> {
    const row = interruptedRow(call, why);
    const collected = await this.batcher.submit(row);
    if (collected === undefined) return undefined;
    this.logger.log(callLine(row, collected), 'call');
    return row;
  }
}

type OpenCallLine = Omit<OpenCall, 'created_at'> & { readonly created_at: Date };

const openCall = (line: OpenCallLine): OpenCall => ({ ...line, created_at: line.created_at.toISOString() });

const COLUMNS = `
  SELECT id, created_at, account_id, key_id, model, group_name, protocol, stream, effort, ip, snapshot::text AS snapshot
    FROM open_calls`;

const ONE = `${COLUMNS} WHERE id = $1`;

/** By ID, each page after the previous one, so that failing calls are not read again. */
const OF_PROCESSES = `${COLUMNS} WHERE process_id = ANY ($1) AND id > $2 ORDER BY id LIMIT $3`;
