import { isWorker, onOrder, outliveThePrimary } from '../platform/workers/index.js';
import { monotonicMs } from '../platform/shared/index.js';

/** One press of Ctrl-C comes several times: from the terminal, from npm, from the wrapper, from the primary. */
const ONE_WISH_MS = 1000;

/**
 * Whether this process was told to stop, from its first moment on: by a signal, or by the death of whoever started it,
 * or, a worker, by its primary. Only the first reason counts; without this, a signal during the start would end the
 * process on the spot and leave behind what it had started.
 */
export class StopRequest {
  private first: string | undefined;
  private firstMs = 0;
  private resolveGiven: (reason: string) => void = () => undefined;
  private resolveHurried: (who: string) => void = () => undefined;
  /** Resolves with the reason. */
  readonly given = new Promise<string>((resolve) => (this.resolveGiven = resolve));
  /** Resolves, with what said so, when it was told so once more: what still runs shall not be waited for. */
  readonly hurried = new Promise<string>((resolve) => (this.resolveHurried = resolve));

  constructor() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.onSignal(signal));
    if (isWorker) this.listenToPrimary();
    const gone = isWorker ? 'its primary is gone' : 'its wrapper is gone';
    process.on('disconnect', () => this.give(gone));
    // It may have died before this process could listen. Without a wrapper there is no channel at all.
    if (process.channel !== undefined && !process.connected) this.give(gone);
  }

  /** Undefined as long as nobody has asked. */
  get reason(): string | undefined {
    return this.first;
  }

  private listenToPrimary(): void {
    outliveThePrimary();
    onOrder(({ order, why }) => (order === 'stop' ? this.give(why) : this.resolveHurried(why)));
  }

  private onSignal(signal: NodeJS.Signals): void {
    // A terminal that closes says so in many ways; the others ask for haste when they come again.
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
