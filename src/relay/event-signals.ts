import { type CallEvent, type CallSignal, outputOf } from '../protocols/contract/index.js';

/** Derives signals for the engine from events of a translated response. */
export class EventSignals {
  private hasContent = false;
  private isReported = false;
  private part = 0;
  private outputTokens = 0;

  constructor(
    /** The client gets our response ID, not the upstream's. */
    private readonly responseId: string | undefined,
  ) {}

  /** Estimated output tokens so far. */
  get units(): number {
    return Math.ceil(this.outputTokens);
  }

  /** Whether the upstream has reported usage. */
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
        // A tool call counts as content before its arguments; text and reasoning do not.
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
          usage: this.responseId === undefined ? event.usage : { ...event.usage, responseId: this.responseId },
          ...(event.isProvisional === true && { isProvisional: true }),
        });
        return;
      default:
    }
  }

  private output(text: string, signals: CallSignal[]): void {
    const output = outputOf(text, this.part);
    this.outputTokens += output.units;
    signals.push(output);
  }

  private content(signals: CallSignal[]): void {
    if (this.hasContent) return;
    this.hasContent = true;
    signals.push({ type: 'content' });
  }
}
