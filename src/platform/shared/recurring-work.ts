import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './app-error.js';

interface RecurringTurns {
  /**
   * One run, which ends early when aborted.
   * @returns how many ms later the next one begins
   */
  readonly turn: (stopped: AbortSignal) => Promise<number>;
  /** How many ms after a turn that failed the next one begins. */
  readonly afterFailureMs: number;
  /** Told of a failure when it begins, and not again while it lasts. */
  readonly report: (error: unknown) => void;
}

/** What goes on in the background of a process that serves: at once, and again and again, until the process stops. */
export class RecurringWork {
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;
  /** What was reported, and still lasts. */
  private trouble: string | undefined;

  constructor(private readonly turns: RecurringTurns) {}

  /** Does not wait for the work to start. */
  start(): void {
    this.running ??= this.run();
  }

  /** Begins no other turn, and waits for the one that runs. */
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
