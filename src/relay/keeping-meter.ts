import type { MeterReading, SseEvent, StreamMeter, VerbatimLane } from '../call/index.js';
import type { AnswerText } from './answer-text.js';

/** A meter that keeps what the model writes, for a stream that may end without a report of its usage. */
export class KeepingMeter implements StreamMeter {
  constructor(
    private readonly meter: StreamMeter,
    private readonly lane: VerbatimLane,
    private readonly text: AnswerText,
  ) {}

  get closed(): boolean {
    return this.meter.closed;
  }

  end(): MeterReading {
    return this.meter.end();
  }

  next(event: SseEvent): MeterReading {
    const reading = this.meter.next(event);
    const { length } = event.raw;
    if (this.text.isFull) this.text.pass(length);
    else this.text.add(this.lane.textsIn(event), length);
    return reading;
  }
}
