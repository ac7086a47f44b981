import { isWorker, onOrder, outliveThePrimary } from '../platform/workers/index.js';
import { monotonicMs } from '../platform/shared/index.js';

/** One press of Ctrl-C comes several times: from the terminal, from npm, from the wrapper, from the primary. */
const ONE_WISH_MS = 1000;

/**
 * Tracks stop requests from the first moment of the process: a signal, the death of the process that started it, or, in
 * a worker, an order of its primary. Only the first reason counts. Without it, a signal during the start would end the
 * process at once and leave behind what it had started.
 */
export class StopRequest {
  private first: string | undefined;
  private firstMs = 0;
  private resolveGiven: (reason: string) => void = () => undefined;
  private resolveHurried: (who: string) => void = () => undefined;
  /** Resolves with the reason. */
  readonly given = new Promise<string>((resolve) => (this.resolveGiven = resolve));
  /** Resolves with the sender when a second stop is requested: running calls are no longer waited for. */
  readonly hurried = new Promise<string>((resolve) => (this.resolveHurried = resolve));

  constructor() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.onSignal(signal));
    if (isWorker) this.listenToPrimary();
    const gone = isWorker ? 'its primary exited' : 'its parent exited';
    process.on('disconnect', () => this.give(gone));
    // The parent may have died before this process listened. Without a parent there is no channel.
    if (process.channel !== undefined && !process.connected) this.give(gone);
  }

  /** Undefined until a stop is requested. */
  get reason(): string | undefined {
    return this.first;
  }

  private listenToPrimary(): void {
    outliveThePrimary();
    onOrder(({ order, why }) => (order === 'stop' ? this.give(why) : this.resolveHurried(why)));
  }

  private onSignal(signal: NodeJS.Signals): void {
    // A closing terminal sends several SIGHUP; other signals ask for haste when repeated.
    if (this.first !== undefined && signal !== 'SIGHUP' && monotonicMs() - this.firstMs >= ONE_WISH_MS)
      this.resolveHurried(signal);
    this.give(signal);
  }

  private give(reason: string): void {
    if (this.first !== undefined) return;
    this.first = reason;
    this.firstMs = monotonicMs();
    this.resolveGiven(reason);
  }
}
