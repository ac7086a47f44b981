import {
  type Call,
  type CallContent,
  type CallEvent,
  type CallResult,
  type TranslationWarnings,
  NO_TOKENS,
  notTranslatable,
  type ProtocolAdapter,
  type RenderContext,
  ResultCollector,
  type StreamDecoder,
  type StreamRenderer,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  eventsOf,
} from '../protocols/contract/index.js';
import { StoppingDecoder } from './stopping-decoder.js';

/** Bytes of a prompt that are one token, roughly. */
const BYTES_PER_TOKEN = 4;
/** Texts that are looked for here, and their length in characters: more than any vendor takes. */
const MAX_STOPS = 64;
const MAX_STOP_LENGTH = 1000;

/** One call between two dialects: the content of its request, and how its answers are written. */
export class Translation {
  private readonly call: Call;
  private readonly content: CallContent;

  constructor(
    private readonly context: Omit<RenderContext, 'losses'>,
    /** The dialect of the answer. */
    private readonly protocol: ProtocolAdapter,
    private readonly losses: TranslationWarnings,
    /** All that the request says, as JSON, once it names nothing any more; gives undefined when that is too long. */
    readonly input: () => string | undefined = () => undefined,
  ) {
    this.call = context.call;
    this.content = context.content;
  }

  /** By which the client will name the answer; undefined when it cannot. */
  get answerId(): string | undefined {
    return this.protocol.storage?.idOf(this.call);
  }

  /**
   * The request for one upstream, and the losses on the way to it.
   * @throws AppError as `UpstreamAdapter.buildRequest`
   */
  build(
    adapter: UpstreamAdapter,
    target: UpstreamTarget,
  ): { readonly request: UpstreamRequest; readonly losses: TranslationWarnings } {
    const losses = this.losses.fork();
    const request = adapter.buildRequest({ call: this.call, content: this.content, losses }, target);
    requireModest(this.stopsBeyond(request.stopsSent ?? 0));
    return { request, losses };
  }

  /**
   * Whether an answer of that upstream may be left before its end.
   * @param stopsSent how many of the stop texts the upstream knows
   */
  mayLeave(stopsSent: number): boolean {
    return this.stopsBeyond(stopsSent).length > 0;
  }

  /**
   * Reads the stream of that upstream, and ends it where the upstream could not be asked to.
   * @param stopsSent as above
   */
  decoder(
    adapter: UpstreamAdapter,
    target: UpstreamTarget,
    stopsSent: number,
  ): StreamDecoder & { readonly stopped?: boolean } {
    const decoder = adapter.decodeStream(this.content, target);
    const stops = this.stopsBeyond(stopsSent);
    return stops.length === 0 ? decoder : new StoppingDecoder(decoder, stops);
  }

  /** Likewise; all that the upstream has written is used, whatever of it the client gets. */
  decode(adapter: UpstreamAdapter, target: UpstreamTarget, body: string, stopsSent: number): CallResult {
    const result = adapter.decodeResponse(body, this.content, target);
    const stops = this.stopsBeyond(stopsSent);
    return stops.length === 0 ? result : { ...stoppedAt(stops, result), usage: result.usage };
  }

  /** @param promptTokens where they are known already */
  renderer(losses: TranslationWarnings, promptTokens = this.context.promptTokens): StreamRenderer {
    return this.protocol.renderStream({ ...this.context, losses, promptTokens });
  }

  /**
   * A whole answer in the form that the client has asked for.
   * @param losses to be continued
   * @param output tokens, roughly
   */
  render(result: CallResult, losses: TranslationWarnings, output: number): string {
    const usage = result.usage ?? this.estimate(output).usage;
    if (!this.call.head.stream) return this.protocol.renderResponse({ ...result, usage }, { ...this.context, losses });
    const renderer = this.renderer(losses, () => usage.input);
    return [...eventsOf({ ...result, usage })].map((event) => renderer.next(event)).join('');
  }

  /** For an answer whose usage nobody reports: what the client is told of it, while the money is counted by its words. */
  estimate(output: number): CallEvent & { readonly type: 'usage-update' } {
    const { bytes, encodedBytes } = this.call.head.size;
    const input = Math.ceil((bytes - encodedBytes) / BYTES_PER_TOKEN);
    return { type: 'usage-update', usage: { ...NO_TOKENS, input, output } };
  }

  private stopsBeyond(sent: number): readonly string[] {
    return this.content.stop.slice(sent).filter((stop) => stop !== '');
  }
}

/** Every piece of an answer is searched for all of them. @throws AppError invalid_request */
function requireModest(stops: readonly string[]): void {
  if (stops.length > MAX_STOPS || stops.some(({ length }) => length > MAX_STOP_LENGTH))
    throw notTranslatable(
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
