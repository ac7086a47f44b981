import { type CallEvent, type CallResult, type CallSignal, NO_BYTES } from '../protocols/contract/index.js';
import type { CallContext } from './call-context.js';
import type { EventSignals } from './event-signals.js';
import type { FrameOutlet } from './frame-outlet.js';

interface WholeParts {
  readonly out: FrameOutlet;
  readonly answer: CallContext;
  readonly signals: EventSignals;
  /** As the client wants it: one JSON object, or all events of a stream. @param output tokens, roughly */
  readonly render: (result: CallResult, output: number) => string;
  readonly stream: boolean;
}

/** A translated answer that is known all at once: one frame. */
export class WholeResponse {
  constructor(private readonly parts: WholeParts) {}

  /** These have come. The client gets nothing of them yet, but pays for them when it leaves. */
  hear(events: readonly CallEvent[]): void {
    this.parts.out.next({ bytes: NO_BYTES, signals: this.signalsOf(events), last: false });
  }

  /** @param events those that have not been heard */
  tell(result: CallResult, events: readonly CallEvent[]): void {
    const { out, answer, signals, render } = this.parts;
    const told = this.signalsOf(events);
    const bytes = Buffer.from(render(result, signals.units));
    answer.commit();
    out.next({ bytes, signals: told, last: true });
  }

  complete(): void {
    this.parts.out.complete();
  }

  fail(error: unknown): void {
    this.parts.out.error(error);
  }

  /** There is no first token for a client that waits for the last. */
  private signalsOf(events: readonly CallEvent[]): readonly CallSignal[] {
    const { signals, stream } = this.parts;
    const told = signals.read(events);
    return stream ? told : told.filter(({ type }) => type !== 'content');
  }
}
