import { Injectable, Logger } from '@nestjs/common';
import { AppError, monotonicMs } from '../../platform/shared/index.js';
import type { CallTrace, EndedCall, EndedUsage, WaitRecords } from '../../protocols/contract/index.js';
import { CallMetrics } from './billing-metrics.js';
import { callLine, type CallRow, unrecordedRow } from './call-row.js';
import { SettlementQueue } from './settlement-queue.js';

/** Details of a call's end beside its row. */
interface Ended {
  /** Why it failed. */
  readonly error?: AppError | undefined;
  /** Max wait; default: that of the queue. */
  readonly patienceMs?: number;
  readonly trace: CallTrace | undefined;
}

/** Ends calls: settlement, log line, metrics and trace. */
@Injectable()
export class CallRecorder {
  private readonly logger = new Logger('Call');

  constructor(
    private readonly settlements: SettlementQueue,
    private readonly metrics: CallMetrics,
  ) {}

  /** Whether too many calls wait for settlement. */
  get full(): boolean {
    return this.settlements.full;
  }

  /** @throws SettlementUnavailable as the queue does; metrics count the call as reported to its client */
  async record(row: CallRow, { error, patienceMs, trace }: Ended): Promise<void> {
    const endedMs = monotonicMs();
    const settled = this.settlements.settle(row, patienceMs);
    // Logged before settlement, which may not succeed in time.
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

  /** Stops waiting for this call, as if its timeout had passed. No effect once settled. */
  giveUp(callId: string): void {
    this.settlements.giveUp(callId);
  }

  /** Waits for pending settlements; briefly without a database. Returns the number of unsettled calls. */
  close(): Promise<number> {
    return this.settlements.close();
  }

  private end(row: CallRow, error: AppError | undefined, trace: CallTrace | undefined, settledMs?: number): void {
    this.metrics.count(row);
    trace?.end(endedCall(row, error, settledMs));
  }
}

/** The trace's view of a call. @param settledMs as in `EndedCall` */
const endedCall = (row: CallRow, error: AppError | undefined, settledMs: number | undefined): EndedCall => ({
  requestId: row.id,
  protocol: row.protocol,
  model: row.snapshot === null ? undefined : row.model,
  group: row.group_name,
  stream: row.stream,
  status: row.status,
  error: error?.kind ?? (row.error_reason || undefined),
  firstTokenMs: row.first_token_ms ?? undefined,
  usage: usageOf(row),
  attempts: row.tries.map((attempt) => ({
    ordinal: attempt.ordinal,
    channel: attempt.channel,
    protocol: attempt.protocol,
    model: attempt.upstream_model,
    httpStatus: attempt.upstream_status ?? undefined,
    outcome: attempt.outcome,
    firstTokenMs: attempt.first_token_ms ?? undefined,
    durationMs: attempt.duration_ms,
  })),
  settledMs,
  holdMs: row.hold_ms ?? undefined,
  waits: row.waits === null ? {} : (JSON.parse(row.waits) as WaitRecords),
});

function usageOf(row: CallRow): EndedUsage | undefined {
  const { prompt_tokens: input, completion_tokens: output } = row;
  if (input === null || output === null) return undefined;
  return {
    input,
    output,
    cacheRead: row.cached_tokens ?? 0,
    cacheWrite: row.cache_write_tokens ?? 0,
    reasoning: row.reasoning_tokens ?? 0,
  };
}
