import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../../platform/database/index.js';
import { codeOf, reasonOf } from '../../../platform/shared/index.js';
import { InterruptedCalls } from './interrupted-calls.js';
import { Presence, ProcessRepository, SweepTimings, ThisProcess, type UnlockedProcess } from './presence.js';

/**
 * Closes the calls of processes that died, one process at a time over all that share the database. A process counts as
 * dead when nobody holds its lock and either it ran here and is gone, or it has been silent for too long while this one
 * had its own connection all that time: after an outage everybody is silent, and is given the time to come back.
 */
@Injectable()
export class Sweeper implements OnModuleDestroy {
  private readonly logger = new Logger('Sweeper');
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** What has been logged already and still lasts. */
  private troubles = new Set<string>();

  constructor(
    private readonly presence: Presence,
    private readonly processes: ProcessRepository,
    private readonly calls: InterruptedCalls,
    private readonly self: ThisProcess,
    private readonly timings: SweepTimings,
  ) {}

  /** Lets others see this process, and looks after them from now on. @throws when the database does not answer */
  async start(): Promise<void> {
    await this.presence.begin();
    this.running ??= this.run();
  }

  /** No further sweep; resolves when the statement that runs is over. Never rejects. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  /** Once, unless another process is at it. @throws when the database cannot be asked; calls that fail are logged */
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

  /** Each kind of trouble is logged when it begins, and again only when it has been over in between. */
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

/** A database that is gone is reported by everybody who needs it, and comes back by itself. */
const OUTAGE = 'outage';

/** What is wrong with a statement is told by its code; that the database is gone, in many ways. */
const kindOf = (error: unknown): string => (isOutage(error) ? OUTAGE : codeOf(error) || reasonOf(error));
