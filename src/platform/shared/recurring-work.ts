import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './app-error.js';

interface RecurringWorkOptions {
  /**
   * One run; ends early when aborted.
   * @returns ms until the next run
   */
  readonly run: (stopped: AbortSignal) => Promise<number>;
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
  private failure: string | undefined;

  constructor(private readonly options: RecurringWorkOptions) {}

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
      const waitMs = await this.options.run(signal);
      this.failure = undefined;
      return waitMs;
    } catch (error) {
      const failure = reasonOf(error);
      if (failure !== this.failure && !signal.aborted) this.options.report(error);
      this.failure = failure;
      return this.options.afterFailureMs;
    }
  }
}
