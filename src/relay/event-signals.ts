import { type CallEvent, type CallSignal, outputOf } from '../protocols/contract/index.js';

/** Tells the engine what the events of a translated answer mean to it. */
export class EventSignals {
  private hasContent = false;
  private isReported = false;
  private part = 0;
  private seen = 0;

  constructor(
    /** The upstream's is nothing to a client that knows another. */
    private readonly answerId: string | undefined,
  ) {}

  /** Tokens of output so far, roughly. */
  get units(): number {
    return Math.ceil(this.seen);
  }

  /** The upstream has said what the answer came to. */
  get reported(): boolean {
    return this.isReported;
  }

  read(events: readonly CallEvent[]): CallSignal[] {
    const signals: CallSignal[] = [];
    for (const event of events) this.add(event, signals);
    return signals;
  }

  private add(event: CallEvent, signals: CallSignal[]): void {
    switch (event.type) {
      case 'part-start':
        this.part += 1;
        // A call says something before its arguments come; a text or a thought does not.
        if (event.start.kind === 'tool-call') {
          this.content(signals);
          this.output(event.start.name, signals);
        }
        return;
      case 'part-delta':
        this.content(signals);
        this.output(event.text, signals);
        return;
      case 'part-seal':
        this.content(signals);
        return;
      case 'usage-update':
        this.isReported ||= event.isProvisional !== true;
        signals.push({
          type: 'usage',
          usage: this.answerId === undefined ? event.usage : { ...event.usage, answerId: this.answerId },
          ...(event.isProvisional === true && { isProvisional: true }),
        });
        return;
      default:
    }
  }

  private output(text: string, signals: CallSignal[]): void {
    const output = outputOf(text, this.part);
    this.seen += output.units;
    signals.push(output);
  }

  private content(signals: CallSignal[]): void {
    if (this.hasContent) return;
    this.hasContent = true;
    signals.push({ type: 'content' });
  }
}
