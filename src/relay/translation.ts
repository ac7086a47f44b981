import {
  type Call,
  type CallContent,
  type CallEvent,
  type CallResult,
  type Losses,
  NO_TOKENS,
  type ProtocolAdapter,
  type RenderContext,
  type StreamDecoder,
  type StreamRenderer,
  type TreeObject,
  type UpstreamAdapter,
  type UpstreamRequest,
  type UpstreamTarget,
  eventsOf,
} from '../call/index.js';
import { StoppingDecoder } from './stopping-decoder.js';

/** Bytes of a prompt that are one token, roughly. */
const BYTES_PER_TOKEN = 4;

/** One call between two dialects: the content of its request, and how its answers are written. */
export class Translation {
  private readonly call: Call;
  private readonly content: CallContent;

  constructor(
    private readonly context: Omit<RenderContext, 'losses'>,
    /** The dialect of the answer. */
    private readonly protocol: ProtocolAdapter,
    private readonly losses: Losses,
    /** With everything in it that the client's names. */
    readonly request: TreeObject,
  ) {
    this.call = context.call;
    this.content = context.content;
  }

  /**
   * The request for one upstream, and the losses on the way to it.
   * @throws AppError as `UpstreamAdapter.buildRequest`
   */
  build(
    adapter: UpstreamAdapter,
    target: UpstreamTarget,
  ): { readonly request: UpstreamRequest; readonly losses: Losses } {
    const losses = this.losses.fork();
    const request = adapter.buildRequest({ call: this.call, content: this.content, losses }, target);
    return { request, losses };
  }

  /**
   * Reads the stream of that upstream, and ends it where the upstream could not be asked to.
   * @param stopsSent how many of the stop texts the upstream knows
   */
  decoder(
    adapter: UpstreamAdapter,
    target: UpstreamTarget,
    stopsSent: number,
  ): StreamDecoder & { readonly stopped?: boolean } {
    const decoder = adapter.decodeStream(this.content, target);
    const stops = this.content.stop.slice(stopsSent).filter((stop) => stop !== '');
    return stops.length === 0 ? decoder : new StoppingDecoder(decoder, stops);
  }

  decode(adapter: UpstreamAdapter, target: UpstreamTarget, body: string): CallResult {
    return adapter.decodeResponse(body, this.content, target);
  }

  renderer(losses: Losses): StreamRenderer {
    return this.protocol.renderStream({ ...this.context, losses });
  }

  /** A whole answer in the form that the client has asked for. @param losses to be continued */
  render(result: CallResult, losses: Losses): string {
    const usage = result.usage ?? this.estimate(0).usage;
    if (!this.call.head.stream) return this.protocol.renderResponse({ ...result, usage }, { ...this.context, losses });
    const renderer = this.renderer(losses);
    return [...eventsOf({ ...result, usage })].map((event) => renderer.next(event)).join('');
  }

  /** For an answer whose usage nobody reports: what the client is told of it, while the money is counted by its words. */
  estimate(output: number): CallEvent & { readonly type: 'usage-update' } {
    const { bytes, encodedBytes } = this.call.head.size;
    const input = Math.ceil((bytes - encodedBytes) / BYTES_PER_TOKEN);
    return { type: 'usage-update', usage: { ...NO_TOKENS, input, output } };
  }
}
