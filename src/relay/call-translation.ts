import {
  type Call,
  type CallContent,
  type CallEvent,
  type CallResult,
  compacted,
  CompactedDecoder,
  CompactedRenderer,
  CompactingDecoder,
  compactionIn,
  compactsFirst,
  type CallSignal,
  eventsOf,
  type FinishedCompaction,
  NO_TOKENS,
  onlyCompacts,
  passUsage,
  summarizing,
  outputOf,
  unsupported,
  type ProtocolAdapter,
  type RenderContext,
  ResultCollector,
  type SseEvent,
  type StreamDecoder,
  type StreamRenderer,
  type TranslationWarnings,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  withCompaction,
  withCompactionUsage,
} from '../protocols/contract/index.js';

/** Rough estimate. */
const BYTES_PER_TOKEN = 4;
/** Max number and length of stop sequences enforced here; vendors allow fewer. */
const MAX_STOPS = 64;
const MAX_STOP_LENGTH = 1000;

/**
 * Requested from the upstream: the response itself, a summary as the response, or first a summary and then the
 * response.
 */
export type CompactionStep = 'none' | 'only' | 'first';

function compactionStepOf(content: CallContent): CompactionStep {
  if (onlyCompacts(content)) return 'only';
  return compactsFirst(content) ? 'first' : 'none';
}

/** A call between two protocols: its normalized content, and how responses are rendered. */
export class CallTranslation {
  private readonly call: Call;
  private readonly content: CallContent;

  constructor(
    private readonly context: Omit<RenderContext, 'warnings'>,
    /** Of the protocol of the response. */
    private readonly responseAdapter: ProtocolAdapter,
    private readonly warnings: TranslationWarnings,
    /** The complete request as JSON without references; undefined if too long. */
    readonly input: () => string | undefined = () => undefined,
    readonly compaction: CompactionStep = compactionStepOf(context.content),
    /** Set if the conversation was compacted. */
    private readonly finished?: FinishedCompaction,
  ) {
    this.call = context.call;
    this.content = context.content;
  }

  /** The translation after its conversation was compacted. */
  after(finished: FinishedCompaction): CallTranslation {
    return new CallTranslation(this.context, this.responseAdapter, this.warnings, this.input, 'none', finished);
  }

  /** Response ID for the client; undefined if it cannot refer to it. */
  get responseId(): string | undefined {
    return this.responseAdapter.storage?.idOf(this.call);
  }

  /**
   * The request for an upstream, with translation warnings.
   * @throws AppError as `UpstreamAdapter.buildRequest`
   */
  build(
    adapter: UpstreamAdapter,
    target: UpstreamTarget,
  ): { readonly request: UpstreamRequest; readonly warnings: TranslationWarnings } {
    const warnings = this.warnings.fork();
    const request = adapter.buildRequest({ call: this.call, content: this.requestContent(), warnings }, target);
    requireEnforceable(this.stopsBeyond(request.stopSequencesSent ?? 0));
    return { request, warnings };
  }

  /**
   * Decodes the upstream's stream and enforces stop sequences it was not sent.
   * @param stopsSent number of stop sequences sent upstream
   */
  decoder(
    adapter: UpstreamAdapter,
    target: UpstreamTarget,
    stopsSent: number,
  ): StreamDecoder & { readonly stopped?: boolean } {
    const { finished } = this;
    const decoder = adapter.decodeStream(this.content, target);
    if (this.compaction === 'only') return new CompactingDecoder(decoder);
    const stops = this.stopsBeyond(stopsSent);
    const stopping = stops.length === 0 ? decoder : new StoppingDecoder(decoder, stops);
    return finished === undefined ? stopping : new CompactedDecoder(stopping, finished);
  }

  /** The same for unstreamed responses; everything the upstream wrote is charged, whatever the client gets. */
  decode(adapter: UpstreamAdapter, target: UpstreamTarget, body: string, stopsSent: number): CallResult {
    const { finished } = this;
    const result = adapter.decodeResponse(body, this.content, target);
    if (this.compaction === 'only') return compactionIn(result);
    const stops = this.stopsBeyond(stopsSent);
    const stopped = stops.length === 0 ? result : { ...stoppedAt(stops, result), usage: result.usage };
    return finished === undefined ? stopped : withCompactionUsage(stopped, finished);
  }

  /** @param promptTokens if known */
  renderer(warnings: TranslationWarnings, promptTokens = this.context.promptTokens): StreamRenderer {
    const renderer = this.responseAdapter.renderStream({ ...this.context, warnings, promptTokens });
    return this.finished === undefined ? renderer : new CompactedRenderer(renderer, this.finished);
  }

  /**
   * An unstreamed or streamed response, as the client requested.
   * @param warnings warnings so far
   * @param output estimated tokens
   */
  render(result: CallResult, warnings: TranslationWarnings, output: number): string {
    const usage = result.usage ?? this.estimate(output).usage;
    if (!this.call.head.stream) {
      const { finished } = this;
      const whole = finished === undefined ? result : withCompaction(result, finished);
      return this.responseAdapter.renderResponse({ ...whole, usage }, { ...this.context, warnings });
    }
    const renderer = this.renderer(warnings, () => usage.input);
    return [...eventsOf({ ...result, usage })].map((event) => renderer.next(event)).join('');
  }

  /** Usage shown to the client when none is reported; billing counts the text itself. */
  estimate(output: number): CallEvent & { readonly type: 'usage-update' } {
    const { bytes, encodedBytes } = this.call.head.size;
    const input = Math.ceil((bytes - encodedBytes) / BYTES_PER_TOKEN);
    const passes = this.finished && passUsage(this.finished).passes;
    return { type: 'usage-update', usage: { ...NO_TOKENS, input, output, ...(passes && { passes }) } };
  }

  private requestContent(): CallContent {
    if (this.compaction !== 'none') return summarizing(this.content);
    return this.finished === undefined ? this.content : compacted(this.content, this.finished);
  }

  /** A summary ends by itself. */
  private stopsBeyond(sent: number): readonly string[] {
    if (this.compaction !== 'none') return [];
    return this.content.stop.slice(sent).filter((stop) => stop !== '');
  }
}

/** Each part of a response is searched for all of them. @throws AppError invalid_request */
function requireEnforceable(stops: readonly string[]): void {
  if (stops.length > MAX_STOPS || stops.some(({ length }) => length > MAX_STOP_LENGTH))
    throw unsupported(
      'stop',
      `only ${MAX_STOPS} sequences of up to ${MAX_STOP_LENGTH} characters are supported for this upstream`,
    );
}

function stoppedAt(stops: readonly string[], result: CallResult): CallResult {
  const collector = new ResultCollector();
  const decoder = new StoppingDecoder({ next: () => [], end: () => [...eventsOf(result)] }, stops);
  for (const event of decoder.end()) collector.next(event);
  return collector.result;
}

/**
 * Ends a response at one of the client's stop sequences, for upstreams that do not support them. Holds back text that
 * may be the beginning of one.
 */
export class StoppingDecoder implements StreamDecoder {
  private readonly longest: number;
  private isText = false;
  /** Sent and held-back parts of the current text. */
  private sentText = '';
  private held = '';
  private isStopped = false;

  /** @param stops not empty, without empty ones */
  constructor(
    private readonly decoder: StreamDecoder,
    private readonly stops: readonly string[],
  ) {
    this.longest = stops.reduce((longest, { length }) => Math.max(longest, length), 0);
  }

  /** A stop sequence occurred: further upstream output is not needed. */
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
      this.sentText = this.held = '';
    }
    if (event.type === 'part-delta' && this.isText) return this.text(event.text, passed);
    if (event.type === 'part-end' && this.isText) this.emit(this.held, passed);
    passed.push(event);
  }

  private text(text: string, passed: CallEvent[]): void {
    const known = this.held + text;
    const found = this.firstStop(known);
    if (found !== undefined) return this.cut(known.slice(0, found.at), found.stop, passed);
    const free = Math.max(0, known.length - (this.longest - 1));
    // Does not split a surrogate pair.
    const cut = free > 0 && isLowSurrogate(known.charCodeAt(free)) ? free - 1 : free;
    this.held = known.slice(cut);
    this.emit(known.slice(0, cut), passed);
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
    this.emit(text, passed);
    this.isStopped = true;
    passed.push(
      { type: 'part-end', part: { kind: 'text', text: this.sentText } },
      { type: 'call-stop', reason: 'stop_sequence', sequence: stop },
      { type: 'call-end' },
    );
  }

  private emit(text: string, passed: CallEvent[]): void {
    if (text === '') return;
    this.sentText += text;
    passed.push({ type: 'part-delta', text });
  }
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

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
