import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher, DatabasePools, isOutage } from '../../../platform/database/index.js';
import { type AppError, codeOf, reasonOf } from '../../../platform/shared/index.js';
import { CallMetrics } from '../billing-metrics.js';
import { ProcessDied } from '../billing.errors.js';
import { BillingRepository } from '../billing.repository.js';
import { callLine, type CallRow, interruptedRow, type OpenCall } from '../call-row.js';
import { Presence, ProcessRepository, SweepTimings, CurrentProcess, type UnlockedProcess } from './presence.js';

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

/**
 * Closes calls of dead processes; one process at a time does so. A process is dead if its lock is free and it either
 * ran on this host and is gone, or has been silent for too long while this process was connected throughout: after an
 * outage all are silent and get time to reconnect.
 */
@Injectable()
export class Sweeper implements OnModuleDestroy {
  private readonly logger = new Logger('Sweeper');
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** Problems already logged that persist. */
  private loggedProblems = new Set<string>();

  constructor(
    private readonly presence: Presence,
    private readonly processes: ProcessRepository,
    private readonly calls: InterruptedCalls,
    private readonly self: CurrentProcess,
    private readonly timings: SweepTimings,
  ) {}

  /** Registers this process and starts sweeping. @throws when the database does not respond */
  async start(): Promise<void> {
    await this.presence.begin();
    this.running ??= this.run();
  }

  /** Stops sweeping; resolves after the running statement. Never rejects. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  /**
   * One sweep, unless another process runs one. @throws when the database is unavailable; errors of single calls are
   * logged
   */
  async sweep(): Promise<void> {
    const failures: unknown[] = [];
    await this.presence.exclusively(async () => {
      await this.processes.registerUnknown();
      const dead = (await this.processes.unlocked()).filter((process) => this.isDead(process));
      for (const process of dead) failures.push(...(await this.closeCallsOf(process)));
      await this.calls.releaseLateHolds();
    });
    this.report(failures);
  }

  private isDead(process: UnlockedProcess): boolean {
    return this.self.knowsGone(process) || (process.silent && this.presence.steadyMs >= this.timings.deadAfterMs);
  }

  private async closeCallsOf({ id, pid }: UnlockedProcess): Promise<readonly unknown[]> {
    const { closed, failures } = await this.calls.closeAllOf([id], this.stopping.signal);
    if (closed > 0) this.logger.warn({ process_id: id, pid, calls: closed }, 'A process died; its calls were closed.');
    if (!this.stopping.signal.aborted) await this.processes.forget([id]);
    return failures;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.sweep().catch((error: unknown) => this.report([error]));
      const { sweepEveryMs } = this.timings;
      await sleep(sweepEveryMs, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  /** Logs each kind of problem when it begins, and again only after it was gone. */
  private report(errors: readonly unknown[]): void {
    const kinds = new Map(errors.map((error) => [kindOf(error), error]));
    for (const [kind, error] of kinds) {
      if (this.loggedProblems.has(kind)) continue;
      const level = kind === OUTAGE ? 'warn' : 'error';
      this.logger[level]({ err: error }, 'Failed to close calls of dead processes.');
    }
    this.loggedProblems = new Set(kinds.keys());
  }
}

/** Outages are reported by everyone and end by themselves. */
const OUTAGE = 'outage';

/** Statement errors are identified by code, outages combined. */
const kindOf = (error: unknown): string => (isOutage(error) ? OUTAGE : codeOf(error) || reasonOf(error));
