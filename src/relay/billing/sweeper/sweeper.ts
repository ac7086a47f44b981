import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../../platform/database/index.js';
import { codeOf, reasonOf } from '../../../platform/shared/index.js';
import { InterruptedCalls } from './interrupted-calls.js';
import { Presence, ProcessRepository, SweepTimings, ThisProcess, type UnlockedProcess } from './presence.js';

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
  private troubles = new Set<string>();

  constructor(
    private readonly presence: Presence,
    private readonly processes: ProcessRepository,
    private readonly calls: InterruptedCalls,
    private readonly self: ThisProcess,
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
    await this.presence.inTurn(async () => {
      await this.processes.listUnknown();
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
      if (this.troubles.has(kind)) continue;
      const level = kind === OUTAGE ? 'warn' : 'error';
      this.logger[level]({ err: error }, 'Failed to close calls of dead processes.');
    }
    this.troubles = new Set(kinds.keys());
  }
}

/** Outages are reported by everyone and end by themselves. */
const OUTAGE = 'outage';

/** Statement errors are identified by code, outages combined. */
const kindOf = (error: unknown): string => (isOutage(error) ? OUTAGE : codeOf(error) || reasonOf(error));
