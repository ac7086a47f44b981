import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import type { Frame, Interruption } from '../call/index.js';
import { AppError } from '../shared/index.js';
import { SettlementUnavailable } from './billing.errors.js';
import type { Ticket } from './ticket.js';

/** How long the end of an answer still waits for its settlement when the process is about to end, in ms. */
const LAST_PATIENCE_MS = 1500;

/**
 * The frames of an answer as a client may have them: each is looked at for what it costs, the last one is kept back until
 * the call is settled, a failure is settled before it is told, and whoever stops listening has left. An interruption is a
 * failure unless the answer is complete; it does not reach a call that is still being admitted. One operator, written by
 * hand, because only one of these ends may happen to a call, and because every operator is a cost of every call.
 */
export function accounted(ticket: Ticket, interruption: Interruption): MonoTypeOperatorFunction<Frame> {
  return (frames) =>
    new Observable((out) => {
      const accounting = new Accounting(ticket, out);
      const subscription = frames.subscribe({
        next: (frame) => accounting.pass(frame),
        error: (thrown: unknown) => accounting.failSource(thrown),
        complete: () => accounting.complete(),
      });
      const detach = interruption.listen((error) => {
        const fails = accounting.interrupt(error);
        if (fails) subscription.unsubscribe();
        return fails;
      });
      return () => {
        detach();
        accounting.stop();
        subscription.unsubscribe();
        ticket.abandon();
      };
    });
}

class Accounting {
  private state: 'open' | 'settling' | 'ended' = 'open';
  private patience: NodeJS.Timeout | undefined;

  constructor(
    private readonly ticket: Ticket,
    private readonly out: Subscriber<Frame>,
  ) {}

  pass(frame: Frame): void {
    if (this.state !== 'open') return;
    this.ticket.note(frame.signals);
    if (!frame.last) return this.out.next(frame);
    this.state = 'settling';
    this.ticket
      .succeed()
      .then(() => this.end(frame))
      .catch((error: unknown) => this.fail(error));
  }

  private end(last: Frame): void {
    if (this.state !== 'settling') return;
    this.state = 'ended';
    this.out.next(last);
    this.out.complete();
  }

  /** The source has failed, which is nothing to an answer that is complete. */
  failSource(thrown: unknown): void {
    if (this.state === 'open') this.fail(thrown);
  }

  private fail(thrown: unknown): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    const error = AppError.from(thrown);
    this.ticket
      .fail(error)
      // The queue has logged it and goes on trying; the client is told why its call failed.
      .catch(() => undefined)
      .finally(() => this.out.error(error));
  }

  /** Without a last frame nothing has come to its end, which whoever made the frames has said by now. */
  complete(): void {
    if (this.state === 'open') this.out.complete();
  }

  /** @returns whether the call fails by it now */
  interrupt(error: AppError): boolean {
    if (this.state === 'settling') {
      this.patience = setTimeout(() => this.fail(new SettlementUnavailable(error)), LAST_PATIENCE_MS);
      return false;
    }
    if (this.state === 'ended' || this.ticket.admission === undefined) return false;
    this.fail(error);
    return true;
  }

  stop(): void {
    this.state = 'ended';
    clearTimeout(this.patience);
  }
}
