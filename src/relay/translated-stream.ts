import type {
  CallEvent,
  MeterReading,
  SseEvent,
  StreamDecoder,
  StreamMeter,
  StreamRenderer,
} from '../protocols/contract/index.js';
import type { EventSignals } from './event-signals.js';

interface StreamParts {
  readonly decoder: StreamDecoder & { readonly stopped?: boolean };
  readonly renderer: StreamRenderer;
  readonly signals: EventSignals;
  /** What the client is told of usage when nobody reports it. @param output tokens, roughly */
  readonly estimate: (output: number) => CallEvent;
}

/** Reads the stream of an upstream and writes it anew for a client of another dialect. Nothing of the bytes passes. */
export class TranslatedStream implements StreamMeter {
  readonly hidesComments = true;
  private isOver = false;

  constructor(private readonly parts: StreamParts) {}

  get closed(): boolean {
    return this.isOver;
  }

  get abandons(): boolean {
    return this.parts.decoder.stopped ?? false;
  }

  next(event: SseEvent): MeterReading {
    return this.pass(this.parts.decoder.next(event));
  }

  end(): MeterReading {
    return this.pass(this.parts.decoder.end());
  }

  private pass(events: readonly CallEvent[]): MeterReading {
    const signals = this.parts.signals.read(events);
    let text = '';
    for (const event of events) text += this.render(event);
    return { signals, last: this.isOver, replacement: text };
  }

  private render(event: CallEvent): string {
    const { renderer, signals, estimate } = this.parts;
    if (event.type !== 'call-end') return renderer.next(event);
    this.isOver = true;
    const estimated = signals.reported ? '' : renderer.next(estimate(signals.units));
    return estimated + renderer.next(event);
  }
}
