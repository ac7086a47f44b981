import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher, isOutage } from '../../platform/database/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { AppError, monotonicMs } from '../../platform/shared/index.js';
import type { CallTrace, EndedCall, EndedUsage, WaitRecords } from '../../protocols/contract/index.js';
import { CallMetrics } from './billing-metrics.js';
import { NotSettled, SettlementUnavailable } from './billing.errors.js';
import { BillingRepository } from './billing.repository.js';
import { callLine, type CallRow, unrecordedRow } from './call-row.js';
import { InterruptedCalls } from './sweeper/sweeper.js';

const RETRY_MS = 250;
/** Max delay of a response's end during a database outage. */
const TIMEOUT_MS = 30_000;
/** How long a stopping process keeps trying. */
const LAST_TRIES_MS = 5000;
/** Calls waiting before admission closes. */
const MAX_WAITING = 10_000;

/**
 * A waiting call. Its row may be replaced until it is sent; a sent row may commit after its timeout, and is then final.
 */
class WaitingCall {
  /** Stops waiting for it. */
  giveUp = (): void => undefined;
  readonly sinceMs = monotonicMs();

  constructor(public row: CallRow) {}

  /** The result of its settlement; undefined once given up, or after the timeout. */
  result<T>(settled: Promise<T>, timeoutMs: number): Promise<{ readonly value: T } | undefined> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(undefined), timeoutMs);
      this.giveUp = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
      settled.then((value) => resolve({ value }), reject).finally(() => clearTimeout(timer));
    });
  }

  /** The row as sent now. */
  sent(): CallRow {
    this.row.settle_wait_ms = Math.round(monotonicMs() - this.sinceMs);
    return this.row;
  }
}

/** Details of a call's end beside its row. */
interface SettlementDetails {
  /** Why it failed. */
  readonly error?: AppError | undefined;
  /** Max wait; default: `TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  readonly trace: CallTrace | undefined;
}

/**
 * Ends calls: settlement, log line, metrics and trace. One settlement statement is in flight; calls that arrive
 * meanwhile form the next batch. During a database outage calls wait and are retried. A call that the database rejects
 * is set aside with its whole row, and the others continue.
 */
@Injectable()
export class SettlementQueue {
  private readonly logger = new Logger('Settlement');
  private readonly callLogger = new Logger('Call');
  private readonly batcher: Batcher<WaitingCall, bigint | undefined>;
  private readonly waiting = new InFlight();
  private readonly calls = new Map<string, WaitingCall>();
  private closing = false;
  private lost = 0;

  constructor(
    private readonly repository: BillingRepository,
    private readonly openCalls: InterruptedCalls,
    private readonly callMetrics: CallMetrics,
    metrics: Metrics,
  ) {
    this.batcher = new Batcher(
      (batch: readonly WaitingCall[]) => repository.settleLatest(() => batch.map((call) => call.sent())),
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

  /** Whether too many calls wait for settlement. */
  get full(): boolean {
    return this.calls.size >= MAX_WAITING;
  }

  /**
   * Queues a finished call. Resolves once it is settled, logged and counted.
   * @throws SettlementUnavailable as `settle` does; metrics count the call as reported to its client
   */
  async enqueue(row: CallRow, { error, timeoutMs, trace }: SettlementDetails): Promise<void> {
    const endedMs = monotonicMs();
    const settled = this.settle(row, timeoutMs);
    // Logged before settlement, which may not succeed in time.
    if (error?.kind === 'internal')
      this.callLogger.error({ err: error.cause ?? error, request_id: row.id }, 'A call failed.');
    try {
      const collected = await settled;
      this.end(row, error, trace, monotonicMs() - endedMs);
      this.callLogger.log(callLine(row, collected, trace?.traceId), 'call');
    } catch (thrown) {
      const unsettled = AppError.from(thrown);
      if (row.status === 'succeeded') this.end(unrecordedRow(row, unsettled), unsettled, trace);
      else this.end(row, error, trace);
      throw thrown;
    }
  }

  /**
   * Resolves with what was collected once the call is settled (undefined: it was settled before).
   * @throws SettlementUnavailable after `timeoutMs` without a database or when given up (the call stays queued and is
   * settled later, a success as reported to its client); immediately when it was set aside, or is a rejection without
   * room in a full queue
   */
  async settle(row: CallRow, timeoutMs = TIMEOUT_MS): Promise<bigint | undefined> {
    // A rejection without a response from admission may have a hold to release.
    if (this.full && row.status === 'refused' && !row.opened)
      throw new SettlementUnavailable(new Error('too many calls are waiting'));
    const call = new WaitingCall(row);
    this.calls.set(row.id, call);
    const settled = this.waiting.add(this.untilSettled(call).finally(() => this.calls.delete(row.id)));
    const collected = await call.result(settled, timeoutMs);
    if (collected !== undefined) return collected.value;
    const error = new SettlementUnavailable(new Error('not settled in time'));
    if (row.status === 'succeeded') call.row = unrecordedRow(row, error);
    throw error;
  }

  /** Stops waiting for this call, as if its timeout had passed. No effect once settled. */
  giveUp(callId: string): void {
    this.calls.get(callId)?.giveUp();
  }

  /** Waits for pending settlements; briefly without a database. Returns the number of unsettled calls. */
  async close(): Promise<number> {
    const lastTry = setTimeout(() => (this.closing = true), LAST_TRIES_MS);
    await this.waiting.over();
    clearTimeout(lastTry);
    return this.lost;
  }

  private end(row: CallRow, error: AppError | undefined, trace: CallTrace | undefined, settledMs?: number): void {
    this.callMetrics.count(row);
    trace?.end(endedCall(row, error, settledMs));
  }

  private get oldestMs(): number {
    const oldest = this.calls.values().next().value;
    return oldest === undefined ? 0 : monotonicMs() - oldest.sinceMs;
  }

  private untilSettled(call: WaitingCall): Promise<bigint | undefined> {
    return this.untilAvailable(() => this.batcher.submit(call)).catch((error: unknown) => this.setAside(call, error));
  }

  /** @throws errors other than outages, and any error during shutdown */
  private async untilAvailable<T>(attempt: () => Promise<T>): Promise<T> {
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
  private async setAside(call: WaitingCall, error: unknown): Promise<never> {
    this.logger.error({ err: error, ...unsettledFields(call.row) }, 'Failed to settle a call.');
    try {
      if (isOutage(error)) throw error;
      await this.untilAvailable(() => this.repository.recordFailure(call.row, error));
      await this.releaseHold(call.row.id);
    } catch (failure) {
      this.lost += 1;
      if (failure !== error)
        this.logger.error(
          { err: failure, request_id: call.row.id },
          'Failed to record an unsettled call for later settlement.',
        );
    }
    throw new SettlementUnavailable(error);
  }

  /** Closes the call without a charge, using its stored row, until an administrator settles it. */
  private async releaseHold(callId: string): Promise<void> {
    try {
      await this.untilAvailable(() => this.openCalls.close(callId, new NotSettled()));
    } catch (error) {
      this.logger.error(
        { err: error, request_id: callId },
        'Failed to release the hold of a call; it remains until this process exits.',
      );
    }
  }
}

/** Details for an administrator to settle it manually. */
const unsettledFields = (row: CallRow): object => ({
  request_id: row.id,
  key_id: row.key_id,
  model: row.model,
  status: row.status,
  billing_basis: row.billing_basis,
  cost_nanos: row.cost,
});

/** Work that must finish before the process exits. */
export class InFlight {
  private count = 0;
  private waiting: (() => void)[] = [];

  add<T>(promise: Promise<T>): Promise<T> {
    this.count += 1;
    promise.then(this.end, this.end);
    return promise;
  }

  /** Resolves when nothing is left, including work added meanwhile. */
  async over(): Promise<void> {
    while (this.count > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private readonly end = (): void => {
    this.count -= 1;
    if (this.count > 0) return;
    for (const resolve of this.waiting) resolve();
    this.waiting = [];
  };
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
  attempts: row.attempt_rows.map((attempt) => ({
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
