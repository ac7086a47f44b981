import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './app-error.js';

interface RecurringTurns {
  /**
   * One run; ends early when aborted.
   * @returns ms until the next run
   */
  readonly turn: (stopped: AbortSignal) => Promise<number>;
  /** Ms until the next run after a failure. */
  readonly afterFailureMs: number;
  /** Called when a failure begins, and not again while it lasts. */
  readonly report: (error: unknown) => void;
}

/** Background work of a serving process: runs immediately and repeatedly until stopped. */
export class RecurringWork {
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;
  /** The reported failure, while it lasts. */
  private trouble: string | undefined;

  constructor(private readonly turns: RecurringTurns) {}

  /** Does not wait for the first run. */
  start(): void {
    this.running ??= this.run();
  }

  /** Waits for the current run and starts no other. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      const waitMs = await this.once(signal);
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async once(signal: AbortSignal): Promise<number> {
    try {
      const waitMs = await this.turns.turn(signal);
      this.trouble = undefined;
      return waitMs;
    } catch (error) {
      const trouble = reasonOf(error);
      if (trouble !== this.trouble && !signal.aborted) this.turns.report(error);
      this.trouble = trouble;
      return this.turns.afterFailureMs;
    }
  }
}
