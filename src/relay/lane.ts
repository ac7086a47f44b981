import { Observable, type OperatorFunction } from 'rxjs';
import { AppError, isJsonObject } from '../platform/shared/index.js';
import {
  type Call,
  type CallSignal,
  classifyInnerError,
  type Frame,
  type UpstreamAdapter,
  type UpstreamHeaders,
  type VerbatimLane,
} from '../protocols/contract/index.js';
import type { ReplyState } from './call-context.js';
import { type FrameOutlet, type ResponseSink, ResponseSize, ResponseStream } from './response-stream.js';
import { type LaneContext, translatedSink } from './translated-sink.js';
import type { UpstreamPart } from './upstream/upstream-client.js';

/** Stages that frames pass on their way out of the lane. */
export interface LaneOutlet extends FrameOutlet {
  /** The lane was unsubscribed. */
  stop(): void;
}

/**
 * Processes the response of an upstream. Verbatim lane: same protocol, bytes pass unchanged beside a meter. Translated
 * lane: decoded and rendered, also when only the form differs (streamed or not). A hand-written operator that
 * subscribes lazily and passes on unsubscription.
 * @param outletTo what frames pass on their way to a subscriber; an operator would cost every chunk more
 */
export function lane(
  context: LaneContext,
  outletTo: (out: FrameOutlet) => LaneOutlet,
): OperatorFunction<UpstreamPart, Frame> {
  return (parts) =>
    new Observable<Frame>((subscriber) => {
      const { attempt } = context;
      const out = outletTo(subscriber);
      let sink: ResponseSink | undefined;
      const subscription = parts.subscribe({
        next: (part) => {
          switch (part.type) {
            case 'connected':
              return attempt.connected();
            case 'sent':
              return attempt.sent();
            case 'chunk':
              attempt.firstByte();
              return sink?.chunk(part.bytes);
            case 'head':
              attempt.headers(part.status, upstreamRequestId(part.headers));
              try {
                sink = sinkFor(context, part.status, part.headers, out);
              } catch (error) {
                out.error(error);
              }
          }
        },
        error: (error) => (sink === undefined ? out.error(error) : sink.fail(error)),
        complete: () => sink?.end(),
      });
      return () => {
        sink?.stop();
        out.stop();
        subscription.unsubscribe();
      };
    });
}

function sinkFor(context: LaneContext, status: number, headers: UpstreamHeaders, out: FrameOutlet): ResponseSink {
  const { call, adapter, translator, response, timings } = context;
  const { verbatim } = adapter;
  const form = formOf(headers);
  const refused = (): ResponseSink => new RefusedResponse(out, adapter, status, headers, timings.refusalMs);
  if (status < 200 || status >= 300 || form === 'other') return refused();
  const streamed = form === 'stream';
  const matchesRequest = streamed === call.head.stream;
  if (context.translation === undefined && matchesRequest && verbatim !== undefined)
    return streamed
      ? new ResponseStream(out, verbatim.meterStream(call), response, timings)
      : new VerbatimWhole(out, verbatim, call, response);
  const translation = context.translation ?? translator.ofResponse();
  return translation === undefined ? refused() : translatedSink(context, translation, streamed, out);
}

/** A missing Content-Type counts as JSON. */
function formOf(headers: UpstreamHeaders): 'stream' | 'json' | 'other' {
  const type = String(headers['content-type'] ?? 'json');
  return type.includes('text/event-stream') ? 'stream' : type.includes('json') ? 'json' : 'other';
}

/** Responses up to this size are buffered, so that a late failure is still an HTTP error and can fail over. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;
/** Where longer responses contain usage: near the end in every protocol; with some servers at the beginning. */
const EDGE_BYTES = 64 * 1024;
const BYTES_PER_TOKEN = 4;

/** An unstreamed response in the client's protocol: one frame, or chunks if very long. */
export class VerbatimWhole implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private size = 0;
  /** Also limits responses passed in chunks, which may be compressed a thousandfold. */
  private readonly limit = ResponseSize.ofWhole();
  /** The limit was exceeded. */
  private isOver = false;
  /** Start of a response that is too long to buffer. */
  private beginning: Buffer | undefined;

  constructor(
    private readonly out: FrameOutlet,
    private readonly meter: VerbatimLane,
    private readonly call: Call,
    private readonly response: ReplyState,
  ) {}

  chunk(bytes: Uint8Array): void {
    if (this.isOver) return;
    try {
      this.limit.add(bytes);
    } catch (error) {
      this.isOver = true;
      this.stop();
      return this.out.error(error);
    }
    this.chunks.push(bytes);
    this.size += bytes.length;
    if (this.size > MAX_WHOLE_BYTES) this.passOn();
  }

  end(): void {
    if (this.isOver) return;
    const bytes = Buffer.concat(this.chunks);
    try {
      const signals = this.signalsOf(bytes);
      this.response.commit();
      this.out.next({ bytes, signals, last: true });
      this.out.complete();
    } catch (error) {
      this.out.error(error);
    }
  }

  fail(error: unknown): void {
    this.out.error(error);
  }

  stop(): void {
    this.chunks = [];
  }

  private signalsOf(bytes: Buffer): readonly CallSignal[] {
    if (this.beginning === undefined) return [...this.meter.meterResponse(this.call, bytes), { type: 'whole', bytes }];
    const usage = usageIn([bytes, this.beginning]);
    // The client has most of it: the unreadable part is charged by size.
    const output: CallSignal = { type: 'output', units: Math.ceil(this.size / BYTES_PER_TOKEN) };
    if (usage === undefined) return [output];
    return [output, ...this.meter.meterResponse(this.call, usage).filter(({ type }) => type !== 'output')];
  }

  /** Passes on all but the last bytes, which contain the usage and wait for settlement. */
  private passOn(): void {
    const bytes = Buffer.concat(this.chunks);
    const cut = Math.max(0, bytes.length - EDGE_BYTES);
    this.chunks = [bytes.subarray(cut)];
    if (cut === 0) return;
    this.beginning ??= Buffer.from(bytes.subarray(0, EDGE_BYTES));
    const signals = this.response.committed ? [] : [{ type: 'content' } as const];
    this.response.commit();
    this.out.next({ bytes: bytes.subarray(0, cut), signals, last: false });
  }
}

/**
 * Extracts usage, including that of hosted tools, from parts of a response as an object; undefined if there is none.
 * The first part with a member wins.
 */
function usageIn(pieces: readonly Buffer[]): Buffer | undefined {
  const texts = pieces.map((piece) => piece.toString('latin1'));
  const [usage, toolUsage] = ['usage(?:Metadata)?', 'tool_usage'].map((name) =>
    texts.map((text) => memberIn(text, name)).find((member) => member !== undefined),
  );
  if (usage === undefined) return undefined;
  return Buffer.from(`{${usage}${toolUsage === undefined ? '' : `,${toolUsage}`}}`, 'latin1');
}

/** The last occurrence of a member whose value is an object. @param name pattern */
function memberIn(text: string, name: string): string | undefined {
  const start = [...text.matchAll(new RegExp(`"${name}"\\s*:\\s*\\{`, 'g'))].at(-1)?.index;
  if (start === undefined) return undefined;
  let depth = 0;
  // Strings are skipped, so that braces in them do not count.
  for (const { 0: token, index } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    else if (token === '}' && --depth === 0) return text.slice(start, start + index + 1);
  }
  return undefined;
}

/** Max bytes of an error body that are read. */
const MAX_BYTES = 64 * 1024;

/** An error status, or a body of an unexpected form. */
class RefusedResponse implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private size = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly out: FrameOutlet,
    private readonly adapter: UpstreamAdapter,
    private readonly status: number,
    private readonly headers: UpstreamHeaders,
    timeoutMs: number,
  ) {
    this.timer = setTimeout(() => this.end(), timeoutMs);
  }

  chunk(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    this.size += bytes.length;
    if (this.size > MAX_BYTES) this.end();
  }

  /** Classifies with what has arrived: another channel and the client are waiting. */
  end(): void {
    this.out.error(this.errorIn(parsed(Buffer.concat(this.chunks).subarray(0, MAX_BYTES))));
  }

  /** The status says more than the broken connection. */
  fail(): void {
    this.end();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.chunks = [];
  }

  private errorIn(body: unknown): AppError {
    if (this.status < 200 || this.status >= 300) return this.adapter.classifyError(this.status, this.headers, body);
    // A success status with an error body is an error; one of another form is an upstream failure.
    if (isJsonObject(body) && isJsonObject(body['error'])) return classifyInnerError(body);
    return new AppError('upstream_error', 'The upstream response does not have the requested format.', {
      failover: true,
    });
  }
}

function parsed(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    // HTML or plain text: classified by status, quoted at most.
    return text;
  }
}

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id'];
/** Upstream headers are stored and shown to administrators as is, except unprintable characters. */
const NOT_PRINTABLE = /[^\x20-\x7e]/g;
const MAX_CHARACTERS = 200;

/** The upstream's request ID for its support; empty if none. */
function upstreamRequestId(headers: UpstreamHeaders): string {
  for (const name of REQUEST_ID_HEADERS) {
    const value = headers[name];
    const text = typeof value === 'string' ? value : value?.[0];
    if (text !== undefined && text !== '') return text.replace(NOT_PRINTABLE, '').slice(0, MAX_CHARACTERS);
  }
  return '';
}
