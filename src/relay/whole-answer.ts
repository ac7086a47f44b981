import { type CallResult, eventsOf, NO_BYTES } from '../call/index.js';
import type { Answer } from './answer.js';
import type { EventSignals } from './event-signals.js';
import type { FrameOutlet } from './frame-outlet.js';

interface WholeParts {
  readonly out: FrameOutlet;
  readonly answer: Answer;
  readonly signals: EventSignals;
  /** As the client wants it: one JSON object, or all events of a stream. @param output tokens, roughly */
  readonly render: (result: CallResult, output: number) => string;
  readonly stream: boolean;
}

/** A translated answer that is known all at once: one frame. */
export class WholeAnswer {
  constructor(private readonly parts: WholeParts) {}

  /** Something of it has come, and nobody waits for its beginning any more. */
  begin(): void {
    this.parts.out.next({ bytes: NO_BYTES, signals: [], last: false });
  }

  tell(result: CallResult): void {
    const { out, answer, signals, render, stream } = this.parts;
    const told = signals.read([...eventsOf(result)]);
    const bytes = Buffer.from(render(result, signals.units));
    answer.commit();
    // There is no first token for a client that waits for the last.
    out.next({ bytes, signals: stream ? told : told.filter(({ type }) => type !== 'content'), last: true });
  }

  complete(): void {
    this.parts.out.complete();
  }

  fail(error: unknown): void {
    this.parts.out.error(error);
  }
}
