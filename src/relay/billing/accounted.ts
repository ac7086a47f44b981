import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import type { Flow, Frame, Interruption } from '../../protocols/contract/index.js';
import { AppError } from '../../platform/shared/index.js';
import type { Ticket } from './ticket.js';

/** How long the end of an answer still waits for its settlement when the process is about to end, in ms. */
const LAST_TIMEOUT_MS = 1500;
/** How often a model that shows nothing is asked after: what it thinks meanwhile must be paid for too. */
const SILENCE_MS = 1000;

/** What the engine shares with the accounting of a call. */
interface AccountingContext {
  /** Ends the call before its time. */
  readonly interruption: Interruption;
  /** Held while more money is asked for. */
  readonly flow: Flow;
}

/**
 * The frames of an answer as a client may have them: each is looked at for what it costs, the last one is kept back until
 * the call is settled, a failure is settled before it is told, and whoever stops listening has left. An interruption is a
 * failure unless the answer is complete; it does not reach a call that is still being admitted. What is not paid for yet
 * waits until it is, or ends the answer. One operator, written by hand, because only one of these ends may happen to a
 * call, and because every operator is a cost of every call.
 */
export function accounted(ticket: Ticket, { interruption, flow }: AccountingContext): MonoTypeOperatorFunction<Frame> {
  return (frames) =>
    new Observable((out) => {
      const accounting = new Accounting(ticket, flow, out, () => subscription.unsubscribe());
      const subscription = frames.subscribe({
        next: (frame) => accounting.pass(frame),
        error: (thrown: unknown) => accounting.failSource(thrown),
        complete: () => accounting.complete(),
      });
      const detach = interruption.listen((error) => accounting.interrupt(error));
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
  private readonly silence: NodeJS.Timeout | undefined;
  /** What has come and is not paid for yet, in order. */
  private unpaid: Frame[] = [];
  private asking = false;
  private sourceOver = false;

  constructor(
    private readonly ticket: Ticket,
    private readonly flow: Flow,
    private readonly out: Subscriber<Frame>,
    private readonly leaveSource: () => void,
  ) {
    if (ticket.call.head.stream) this.silence = setInterval(() => this.askInSilence(), SILENCE_MS);
  }

  pass(frame: Frame): void {
    if (this.state !== 'open') return;
    this.ticket.note(frame.signals);
    if (!this.asking && this.ticket.covered) return this.letGo(frame);
    this.unpaid.push(frame);
    this.ask();
  }

  private letGo(frame: Frame): void {
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

  private askInSilence(): void {
    if (!this.ticket.silent) clearInterval(this.silence);
    else if (!this.ticket.covered) this.ask();
  }

  /** The upstream is not read from while money is asked for. */
  private ask(): void {
    if (this.asking) return;
    this.asking = true;
    this.flow.hold('credit');
    this.ticket.cover().then(
      () => this.pay(),
      (error: unknown) => this.cutOff(error),
    );
  }

  private pay(): void {
    this.asking = false;
    const frames = this.unpaid;
    this.unpaid = [];
    for (const frame of frames) if (this.state === 'open') this.letGo(frame);
    this.flow.release('credit');
    if (this.sourceOver) this.complete();
  }

  /** The call fails where it is, and nothing more of it is bought. */
  private cutOff(error: unknown): void {
    if (this.state !== 'open') return;
    this.leaveSource();
    this.fail(error);
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
    this.sourceOver = true;
    if (this.state === 'open' && !this.asking) this.out.complete();
  }

  /** @returns whether the call fails by it now, not settled yet and not still being admitted: whoever admits it looks */
  interrupt(error: AppError): boolean {
    if (this.state === 'settling') this.patience = setTimeout(() => this.ticket.giveUp(), LAST_TIMEOUT_MS);
    if (this.state !== 'open' || this.ticket.admission === undefined) return false;
    this.cutOff(error);
    return true;
  }

  stop(): void {
    this.state = 'ended';
    this.unpaid = [];
    clearInterval(this.silence);
    clearTimeout(this.patience);
  }
}
