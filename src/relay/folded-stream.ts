import {
  ResultCollector,
  SseSplitter,
  type CallEvent,
  type SseEvent,
  type StreamDecoder,
} from '../protocols/contract/index.js';
import type { ResponseSink } from './response-sink.js';
import { ResponseSize } from './response-size.js';
import type { WholeResponse } from './whole-response.js';

/** The stream of an upstream for a client that wants its answer whole. */
export class FoldedStream implements ResponseSink {
  private readonly splitter = new SseSplitter();
  private readonly collector = new ResultCollector();
  private readonly size = ResponseSize.ofStream();
  private lingerTimer: NodeJS.Timeout | undefined;
  /** The answer is complete, or has failed. */
  private isOver = false;

  constructor(
    private readonly answer: WholeResponse,
    private readonly decoder: StreamDecoder & { readonly stopped?: boolean },
    private readonly lingerMs: number,
  ) {}

  chunk(bytes: Uint8Array): void {
    this.guarded(() => {
      this.size.add(bytes);
      this.read(this.splitter.next(bytes));
    });
  }

  end(): void {
    this.guarded(() => {
      this.read(this.splitter.end());
      if (!this.isOver) this.tell(this.collect(this.decoder.end()));
    });
    this.complete();
  }

  /** The connection broke, which is nothing to a client whose answer is complete. */
  fail(error: unknown): void {
    try {
      if (!this.isOver) this.tell(this.collect(this.decoder.end()));
    } catch {
      // It was not complete, and the connection tells why.
      this.isOver = true;
      return this.answer.fail(error);
    }
    this.complete();
  }

  stop(): void {
    clearTimeout(this.lingerTimer);
  }

  private read(events: readonly SseEvent[]): void {
    const spoken: (readonly CallEvent[])[] = [];
    for (const event of events)
      if (!this.isOver && !event.isComment) spoken.push(this.collect(this.decoder.next(event)));
    if (spoken.length > 0) this.tell(spoken.flat());
  }

  private collect(events: readonly CallEvent[]): readonly CallEvent[] {
    for (const event of events) {
      this.collector.next(event);
      if (event.type === 'call-end') this.isOver = true;
    }
    return events;
  }

  private tell(events: readonly CallEvent[]): void {
    if (!this.isOver) {
      // An event that says nothing is not the first one of an answer.
      if (events.length > 0) this.answer.hear(events);
      return;
    }
    this.answer.tell(this.collector.result, events);
    // The upstream's end is waited for, so that its connection can be used again; but not when it writes on.
    if (this.decoder.stopped === true) this.complete();
    else this.lingerTimer ??= setTimeout(() => this.complete(), this.lingerMs);
  }

  private complete(): void {
    clearTimeout(this.lingerTimer);
    this.answer.complete();
  }

  private guarded(work: () => void): void {
    if (this.isOver) return;
    try {
      work();
    } catch (error) {
      this.isOver = true;
      this.answer.fail(error);
    }
  }
}
