import type { CallEvent, SseEvent, StreamDecoder } from '../protocols/contract/index.js';

/**
 * Ends an answer where the model writes one of the client's stop texts, for upstreams that cannot be asked to. So much of
 * a text is kept back as may be the beginning of one.
 */
export class StoppingDecoder implements StreamDecoder {
  private readonly longest: number;
  private isText = false;
  /** Of the text that is open: what has been told, and what is kept back. */
  private told = '';
  private held = '';
  private isStopped = false;

  /** @param stops at least one, none empty */
  constructor(
    private readonly decoder: StreamDecoder,
    private readonly stops: readonly string[],
  ) {
    this.longest = stops.reduce((longest, { length }) => Math.max(longest, length), 0);
  }

  /** One of the texts has come: nothing of the upstream is wanted any more. */
  get stopped(): boolean {
    return this.isStopped;
  }

  next(event: SseEvent): readonly CallEvent[] {
    return this.filter(this.decoder.next(event));
  }

  end(): readonly CallEvent[] {
    return this.isStopped ? [] : this.filter(this.decoder.end());
  }

  private filter(events: readonly CallEvent[]): readonly CallEvent[] {
    const passed: CallEvent[] = [];
    for (const event of events) if (!this.isStopped) this.pass(event, passed);
    return passed;
  }

  private pass(event: CallEvent, passed: CallEvent[]): void {
    if (event.type === 'part-start') {
      this.isText = event.start.kind === 'text';
      this.told = this.held = '';
    }
    if (event.type === 'part-delta' && this.isText) return this.text(event.text, passed);
    if (event.type === 'part-end' && this.isText) this.tell(this.held, passed);
    passed.push(event);
  }

  private text(text: string, passed: CallEvent[]): void {
    const known = this.held + text;
    const found = this.firstStop(known);
    if (found !== undefined) return this.cut(known.slice(0, found.at), found.stop, passed);
    const free = Math.max(0, known.length - (this.longest - 1));
    // A character of two halves is not cut in two.
    const cut = free > 0 && isLowSurrogate(known.charCodeAt(free)) ? free - 1 : free;
    this.held = known.slice(cut);
    this.tell(known.slice(0, cut), passed);
  }

  private firstStop(text: string): { readonly at: number; readonly stop: string } | undefined {
    let first: { readonly at: number; readonly stop: string } | undefined;
    for (const stop of this.stops) {
      const at = text.indexOf(stop);
      if (at !== -1 && (first === undefined || at < first.at)) first = { at, stop };
    }
    return first;
  }

  private cut(text: string, stop: string, passed: CallEvent[]): void {
    this.tell(text, passed);
    this.isStopped = true;
    passed.push(
      { type: 'part-end', part: { kind: 'text', text: this.told } },
      { type: 'call-stop', reason: 'stop_sequence', sequence: stop },
      { type: 'call-end' },
    );
  }

  private tell(text: string, passed: CallEvent[]): void {
    if (text === '') return;
    this.told += text;
    passed.push({ type: 'part-delta', text });
  }
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
