// Reads a stream as it comes and checks that every numbered event is there, once and in order.
import { PACE_MS } from '../work/behaviours.ts';
import type { ProtocolEndpoint } from '../work/protocol.ts';

const END_OF_EVENT = '\n\n';

export class StreamCheck {
  /** When the first event came; undefined before. */
  firstAt: number | undefined;
  /** Of each later one from its pace, in ms. */
  readonly deviations: number[] = [];
  private readonly expected: number;
  private readonly protocol: ProtocolEndpoint;
  private next = 0;
  private wrong = 0;
  private lastAt = 0;
  private ended = false;
  /** The beginning of an event whose end has not come yet. */
  private rest = '';

  constructor(expected: number, protocol: ProtocolEndpoint) {
    this.expected = expected;
    this.protocol = protocol;
  }

  feed(chunk: Buffer, at: number): void {
    const { numberMark, lastWord } = this.protocol;
    const text = this.rest + chunk.toString('latin1');
    const end = text.lastIndexOf(END_OF_EVENT);
    this.rest = end === -1 ? text : text.slice(end + END_OF_EVENT.length);
    for (let mark = text.indexOf(numberMark); mark !== -1 && mark < end; mark = text.indexOf(numberMark, mark + 1))
      this.arrived(Number.parseInt(text.slice(mark + numberMark.length, mark + numberMark.length + 6), 10), at);
    if (text.includes(lastWord, Math.max(0, end - 200))) this.ended = true;
  }

  /** Events that were lost, doubled or out of order, once the stream has ended. */
  get lost(): number {
    return this.wrong + Math.max(0, this.expected - this.next);
  }

  /** Whether its end was its own, and not only the connection's. */
  get whole(): boolean {
    return this.ended;
  }

  private arrived(number: number, at: number): void {
    if (this.firstAt === undefined) this.firstAt = at;
    else this.deviations.push(Math.abs(at - this.lastAt - PACE_MS));
    this.lastAt = at;
    if (number !== this.next) this.wrong += Math.max(1, number - this.next);
    this.next = number + 1;
  }
}
