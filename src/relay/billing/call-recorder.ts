import { Injectable, Logger } from '@nestjs/common';
import type { CallTrace } from '../../protocols/contract/index.js';
import { AppError, monotonicMs } from '../../platform/shared/index.js';
import { callLine } from './call-line.js';
import { CallMetrics } from './call-metrics.js';
import type { CallRow } from './call-row.js';
import { endedCall } from './ended-call.js';
import { SettlementQueue } from './settlement-queue.js';
import { unrecordedRow } from './unrecorded-row.js';

/** What is to be known of the end of a call beside its row. */
interface Ended {
  /** Why it failed. */
  readonly error?: AppError | undefined;
  /** How long whoever waits for it does so at most; as long as the queue finds right when absent. */
  readonly patienceMs?: number;
  readonly trace: CallTrace | undefined;
}

/** The end of every call: settled, in the log, counted, and told to its trace. */
@Injectable()
export class CallRecorder {
  private readonly logger = new Logger('Call');

  constructor(
    private readonly settlements: SettlementQueue,
    private readonly metrics: CallMetrics,
  ) {}

  /** Whether so much waits to be settled that no call should be begun. */
  get full(): boolean {
    return this.settlements.full;
  }

  /** @throws SettlementUnavailable as the queue does; the call is counted all the same, as its client is told of it */
  async record(row: CallRow, { error, patienceMs, trace }: Ended): Promise<void> {
    const endedMs = monotonicMs();
    const settled = this.settlements.settle(row, patienceMs);
    // Not behind the settlement, which may not come in time.
    if (error?.kind === 'internal')
      this.logger.error({ err: error.cause ?? error, request_id: row.id }, 'A call failed.');
    try {
      const collected = await settled;
      this.end(row, error, trace, monotonicMs() - endedMs);
      this.logger.log(callLine(row, collected, trace?.traceId), 'call');
    } catch (thrown) {
      const unsettled = AppError.from(thrown);
      if (row.status === 'succeeded') this.end(unrecordedRow(row, unsettled), unsettled, trace);
      else this.end(row, error, trace);
      throw thrown;
    }
  }

  /** Ends the patience of whoever waits for this call, as if its time were over. Changes nothing when it is settled. */
  giveUp(callId: string): void {
    this.settlements.giveUp(callId);
  }

  /** Waits for what is not settled yet; without a database not for long. Gives how many calls stay unsettled. */
  close(): Promise<number> {
    return this.settlements.close();
  }

  private end(row: CallRow, error: AppError | undefined, trace: CallTrace | undefined, settledMs?: number): void {
    this.metrics.count(row);
    trace?.end(endedCall(row, error, settledMs));
  }
}
