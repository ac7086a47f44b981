import { type MonoTypeOperatorFunction, Observable, type Subscriber } from 'rxjs';
import { AppError } from '../../platform/shared/index.js';
import type { Flow, Frame, Interruption } from '../../protocols/contract/index.js';
import type { Ticket } from './ticket.js';

/** Max wait for settlement during the final phase of a shutdown, in ms. */
const LAST_TIMEOUT_MS = 1500;
/** Interval for charging hidden reasoning while nothing is shown. */
const SILENCE_MS = 1000;

/** State shared by the engine and the accounting of a call. */
interface AccountingContext {
  /** Ends the call early. */
  readonly interruption: Interruption;
  /** Paused while the hold is being extended. */
  readonly flow: Flow;
}

/**
 * Accounts for the frames of a response: each is metered, unpaid ones wait until the hold is extended, the last one
 * waits for settlement, failures are settled before they are sent, and unsubscription counts as cancellation. An
 * interruption fails the call unless the response is complete; it does not affect a call still in admission. One
 * hand-written operator, because exactly one ending must win, and because every operator costs every call.
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
  private settlementTimer: NodeJS.Timeout | undefined;
  private readonly silenceTimer: NodeJS.Timeout | undefined;
  /** Received but unpaid frames, in order. */
  private unpaid: Frame[] = [];
  private isExtending = false;
  private isSourceComplete = false;

  constructor(
    private readonly ticket: Ticket,
    private readonly flow: Flow,
    private readonly out: Subscriber<Frame>,
    private readonly unsubscribeSource: () => void,
  ) {
    if (ticket.call.head.stream) this.silenceTimer = setInterval(() => this.extendInSilence(), SILENCE_MS);
  }

  pass(frame: Frame): void {
    if (this.state !== 'open') return;
    this.ticket.note(frame.signals);
    if (!this.isExtending && this.ticket.coversOutput()) return this.forward(frame);
    this.unpaid.push(frame);
    this.extendHold();
  }

  private forward(frame: Frame): void {
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

  private extendInSilence(): void {
    if (!this.ticket.silent) clearInterval(this.silenceTimer);
    else if (!this.ticket.coversOutput()) this.extendHold();
  }

  /** Pauses the upstream while the hold is being extended. */
  private extendHold(): void {
    if (this.isExtending) return;
    this.isExtending = true;
    this.flow.hold('credit');
    this.ticket.untilCovered().then(
      () => this.forwardPaid(),
      (error: unknown) => this.cutOff(error),
    );
  }

  private forwardPaid(): void {
    this.isExtending = false;
    const frames = this.unpaid;
    this.unpaid = [];
    for (const frame of frames) if (this.state === 'open') this.forward(frame);
    this.flow.release('credit');
    if (this.isSourceComplete) this.complete();
  }

  /** Fails the call; nothing more is bought. */
  private cutOff(error: unknown): void {
    if (this.state !== 'open') return;
    this.unsubscribeSource();
    this.fail(error);
  }

  /** An error of the source; irrelevant after a complete response. */
  failSource(thrown: unknown): void {
    if (this.state === 'open') this.fail(thrown);
  }

  private fail(thrown: unknown): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    const error = AppError.from(thrown);
    this.ticket
      .fail(error)
      // The queue has logged it and keeps trying; the client gets the call's own error.
      .catch(() => undefined)
      .finally(() => this.out.error(error));
  }

  /** Without a last frame, the source has reported an error before. */
  complete(): void {
    this.isSourceComplete = true;
    if (this.state === 'open' && !this.isExtending) this.out.complete();
  }

  /** @returns whether this error fails the call: not settled yet, and past admission */
  interrupt(error: AppError): boolean {
    if (this.state === 'settling') this.settlementTimer = setTimeout(() => this.ticket.giveUp(), LAST_TIMEOUT_MS);
    if (this.state !== 'open' || this.ticket.admission === undefined) return false;
    this.cutOff(error);
    return true;
  }

  stop(): void {
    this.state = 'ended';
    this.unpaid = [];
    clearInterval(this.silenceTimer);
    clearTimeout(this.settlementTimer);
  }
}
