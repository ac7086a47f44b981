import {
  type Call,
  type CallEvent,
  type CallResult,
  type CallSignal,
  eventsOf,
  type MeterReading,
  NO_BYTES,
  ResultCollector,
  type SseEvent,
  SseSplitter,
  summaryIn,
  type StreamDecoder,
  type StreamMeter,
  type StreamRenderer,
  type TranslationWarnings,
  type UpstreamAdapter,
  type UpstreamTarget,
} from '../protocols/contract/index.js';
import type { AttemptLog } from './billing/index.js';
import type { ReplyState } from './call-context.js';
import type { RelayTimings } from './relay-timings.js';
import { type FrameOutlet, type ResponseSink, ResponseSize, ResponseStream } from './response-stream.js';
import { type CallTranslation, EventSignals } from './call-translation.js';
import type { Translator } from './translation.service.js';

/**
 * Creates the sink for a response to be rendered. @param streamed whether the upstream streams; the client's form may
 * differ
 */
export function translatedSink(
  context: LaneContext,
  translation: CallTranslation,
  streamed: boolean,
  out: FrameOutlet,
): ResponseSink {
  const { call, adapter, target, response, warnings, timings, stopsSent } = context;
  const signals = new EventSignals(translation.responseId);
  const decoder = (): StreamDecoder => translation.decoder(adapter, target, stopsSent);
  const isSummary = translation.compaction === 'first';
  const stream = call.head.stream && !isSummary;
  if (streamed && stream) {
    const renderer = translation.renderer(warnings);
    response.renderer = renderer;
    const estimate = translation.estimate.bind(translation);
    const meter = new TranslatedStream({ decoder: decoder(), renderer, signals, estimate });
    return new ResponseStream(out, meter, response, timings);
  }
  const render = (result: CallResult, output: number): string => {
    if (isSummary) return summaryIn(result);
    const text = translation.render(result, warnings, output);
    response.warnings = warnings.header;
    return text;
  };
  const whole = new WholeResponse({ out, response: isSummary ? undefined : response, signals, stream, render });
  if (streamed) return new FoldedStream(whole, decoder(), timings.lingerMs);
  return new TranslatedWhole(whole, (body) => translation.decode(adapter, target, body, stopsSent));
}

/** Properties of a request that the lane needs. */
export interface LaneContext {
  readonly call: Call;
  readonly adapter: UpstreamAdapter;
  readonly target: UpstreamTarget;
  /** Number of stop sequences sent upstream. */
  readonly stopsSent: number;
  readonly response: ReplyState;
  readonly attempt: AttemptLog;
  readonly timings: RelayTimings;
  /** Undefined for a verbatim request. */
  readonly translation: CallTranslation | undefined;
  /** For responses of another form than requested. */
  readonly translator: Translator;
  /** Warnings of the request, to which those of the response are added. */
  readonly warnings: TranslationWarnings;
}

interface StreamParts {
  readonly decoder: StreamDecoder & { readonly stopped?: boolean };
  readonly renderer: StreamRenderer;
  readonly signals: EventSignals;
  /** Estimated usage for the client when none is reported. @param output estimated tokens */
  readonly estimate: (output: number) => CallEvent;
}

/** Decodes an upstream stream and renders it in the client's protocol. */
class TranslatedStream implements StreamMeter {
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

/** An unstreamed upstream response, decoded when complete. */
export class TranslatedWhole implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private readonly size = ResponseSize.ofWhole();

  constructor(
    private readonly response: WholeResponse,
    private readonly decode: (body: string) => CallResult,
  ) {}

  chunk(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    try {
      this.size.add(bytes);
    } catch (error) {
      this.stop();
      this.response.fail(error);
    }
  }

  end(): void {
    try {
      const result = this.decode(Buffer.concat(this.chunks).toString('utf8'));
      this.response.send(result, [...eventsOf(result)]);
    } catch (error) {
      return this.response.fail(error);
    }
    this.response.complete();
  }

  fail(error: unknown): void {
    this.response.fail(error);
  }

  stop(): void {
    this.chunks = [];
  }
}

/** Collects an upstream stream into an unstreamed response. */
export class FoldedStream implements ResponseSink {
  private readonly splitter = new SseSplitter();
  private readonly collector = new ResultCollector();
  private readonly size = ResponseSize.ofStream();
  private lingerTimer: NodeJS.Timeout | undefined;
  /** The response is complete or has failed. */
  private isOver = false;

  constructor(
    private readonly response: WholeResponse,
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
      if (!this.isOver) this.emit(this.collect(this.decoder.end()));
    });
    this.complete();
  }

  /** A broken connection after a complete response does not matter. */
  fail(error: unknown): void {
    try {
      if (!this.isOver) this.emit(this.collect(this.decoder.end()));
    } catch {
      // It was incomplete, and the connection error says why.
      this.isOver = true;
      return this.response.fail(error);
    }
    this.complete();
  }

  stop(): void {
    clearTimeout(this.lingerTimer);
  }

  private read(events: readonly SseEvent[]): void {
    const decoded: (readonly CallEvent[])[] = [];
    for (const event of events)
      if (!this.isOver && !event.isComment) decoded.push(this.collect(this.decoder.next(event)));
    if (decoded.length > 0) this.emit(decoded.flat());
  }

  private collect(events: readonly CallEvent[]): readonly CallEvent[] {
    for (const event of events) {
      this.collector.next(event);
      if (event.type === 'call-end') this.isOver = true;
    }
    return events;
  }

  private emit(events: readonly CallEvent[]): void {
    if (!this.isOver) {
      // Events without content do not start a response.
      if (events.length > 0) this.response.progress(events);
      return;
    }
    this.response.send(this.collector.result, events);
    // Waits for the upstream's end to reuse the connection, unless it would go on writing.
    if (this.decoder.stopped === true) this.complete();
    else this.lingerTimer ??= setTimeout(() => this.complete(), this.lingerMs);
  }

  private complete(): void {
    clearTimeout(this.lingerTimer);
    this.response.complete();
  }

  private guarded(work: () => void): void {
    if (this.isOver) return;
    try {
      work();
    } catch (error) {
      this.isOver = true;
      this.response.fail(error);
    }
  }
}

interface WholeParts {
  readonly out: FrameOutlet;
  /** Undefined for a summary, which is not sent: another channel can still be tried. */
  readonly response: ReplyState | undefined;
  readonly signals: EventSignals;
  /** Renders one JSON object or all events of a stream. @param output estimated tokens */
  readonly render: (result: CallResult, output: number) => string;
  readonly stream: boolean;
}

/** A translated response that is complete at once: one frame. */
export class WholeResponse {
  constructor(private readonly parts: WholeParts) {}

  /** Events received so far. The client sees nothing of them yet but is charged if it leaves. */
  progress(events: readonly CallEvent[]): void {
    this.parts.out.next({ bytes: NO_BYTES, signals: this.signalsOf(events), last: false });
  }

  /** @param events those not passed to `progress` */
  send(result: CallResult, events: readonly CallEvent[]): void {
    const { out, response, signals, render } = this.parts;
    const sent = this.signalsOf(events);
    const bytes = Buffer.from(render(result, signals.units));
    response?.commit();
    out.next({ bytes, signals: sent, last: true });
  }

  complete(): void {
    this.parts.out.complete();
  }

  fail(error: unknown): void {
    this.parts.out.error(error);
  }

  /** Unstreamed responses have no first token. */
  private signalsOf(events: readonly CallEvent[]): readonly CallSignal[] {
    const { signals, stream } = this.parts;
    const sent = signals.read(events);
    return stream ? sent : sent.filter(({ type }) => type !== 'content');
  }
}
