import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
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
import type { CallContext } from './call-context.js';
import { type FrameOutlet, type ResponseSink, ResponseSize } from './response-sink.js';
import { ResponseStream } from './response-stream.js';
import { type LaneContext, translatedSink } from './translated-sink.js';
import type { UpstreamPart } from './upstream/upstream-client.js';

type Out = Subscriber<Frame>;

/**
 * The way of an answer from one upstream to its client. In the verbatim lane both speak the same dialect: bytes pass, a
 * meter looks on. In the translated lane it is read and written anew; so it is when it comes streamed to a client that
 * wants it whole, or the other way round. An operator written by hand: it subscribes when it is subscribed to, and passes
 * leaving on.
 */
export function lane(context: LaneContext): OperatorFunction<UpstreamPart, Frame> {
  return (parts) =>
    new Observable<Frame>((out) => {
      const { attempt } = context;
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
        subscription.unsubscribe();
      };
    });
}

function sinkFor(context: LaneContext, status: number, headers: UpstreamHeaders, out: Out): ResponseSink {
  const { call, adapter, translator, answer, timings } = context;
  const { verbatim } = adapter;
  const form = formOf(headers);
  const refused = (): ResponseSink => new RefusedResponse(out, adapter, status, headers, timings.refusalMs);
  if (status < 200 || status >= 300 || form === 'other') return refused();
  const streamed = form === 'stream';
  const isAsAsked = streamed === call.head.stream;
  if (context.translation === undefined && isAsAsked && verbatim !== undefined)
    return streamed
      ? new ResponseStream(out, verbatim.meterStream(call), answer, timings)
      : new VerbatimWhole(out, verbatim, call, answer);
  const translation = context.translation ?? translator.ofAnswer();
  return translation === undefined ? refused() : translatedSink(context, translation, streamed, out);
}

/** A server that does not say what it sends sends JSON. */
function formOf(headers: UpstreamHeaders): 'stream' | 'json' | 'other' {
  const type = String(headers['content-type'] ?? 'json');
  return type.includes('text/event-stream') ? 'stream' : type.includes('json') ? 'json' : 'other';
}

/** Up to this size an answer is kept whole, so that a late failure is still an HTTP error and may be tried elsewhere. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;
/** Where usage stands in answers too long to keep: near the end, in every dialect; with some servers in front. */
const EDGE_BYTES = 64 * 1024;
const BYTES_PER_TOKEN = 4;

/** An unstreamed answer on its way to a client of the same dialect: one frame, or chunks when it is very long. */
export class VerbatimWhole implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private size = 0;
  /** Also of one that passes in pieces, which may come compressed a thousand times. */
  private readonly limit = ResponseSize.ofWhole();
  /** It was larger than that. */
  private isOver = false;
  /** Of an answer too long to keep. */
  private beginning: Buffer | undefined;

  constructor(
    private readonly out: FrameOutlet,
    private readonly meter: VerbatimLane,
    private readonly call: Call,
    private readonly answer: CallContext,
  ) {}

  chunk(bytes: Uint8Array): void {
    if (this.isOver) return;
    try {
      this.limit.add(bytes);
    } catch (error) {
      return this.giveUp(error);
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
      this.answer.commit();
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

  private giveUp(error: unknown): void {
    this.isOver = true;
    this.stop();
    this.out.error(error);
  }

  private signalsOf(bytes: Buffer): readonly CallSignal[] {
    if (this.beginning === undefined) return [...this.meter.meterResponse(this.call, bytes), { type: 'whole', bytes }];
    const usage = usageIn([bytes, this.beginning]);
    // The client has most of it: what cannot be read any more is charged by its size.
    const output: CallSignal = { type: 'output', units: Math.ceil(this.size / BYTES_PER_TOKEN) };
    if (usage === undefined) return [output];
    return [output, ...this.meter.meterResponse(this.call, usage).filter(({ type }) => type !== 'output')];
  }

  /** Lets go of all but the last bytes, which are kept back for the settlement and hold the usage. */
  private passOn(): void {
    const bytes = Buffer.concat(this.chunks);
    const cut = Math.max(0, bytes.length - EDGE_BYTES);
    this.chunks = [bytes.subarray(cut)];
    if (cut === 0) return;
    this.beginning ??= Buffer.from(bytes.subarray(0, EDGE_BYTES));
    const signals = this.answer.committed ? [] : [{ type: 'content' } as const];
    this.answer.commit();
    this.out.next({ bytes: bytes.subarray(0, cut), signals, last: false });
  }
}

/**
 * The usage that stands in these pieces of an answer, with that of hosted tools, as an object of its own; undefined when
 * it is in none. The first piece that has a member counts.
 */
function usageIn(pieces: readonly Buffer[]): Buffer | undefined {
  const texts = pieces.map((piece) => piece.toString('latin1'));
  const [usage, ofTools] = ['usage', 'tool_usage'].map((name) =>
    texts.map((text) => memberIn(text, name)).find((member) => member !== undefined),
  );
  if (usage === undefined) return undefined;
  return Buffer.from(`{${usage}${ofTools === undefined ? '' : `,${ofTools}`}}`, 'latin1');
}

/** A member whose value is an object, by the last place where it stands. */
function memberIn(text: string, name: string): string | undefined {
  const start = [...text.matchAll(new RegExp(`"${name}"\\s*:\\s*\\{`, 'g'))].at(-1)?.index;
  if (start === undefined) return undefined;
  let depth = 0;
  // Strings are skipped whole: what stands in them closes nothing.
  for (const { 0: token, index } of text.slice(start).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    else if (token === '}' && --depth === 0) return text.slice(start, start + index + 1);
  }
  return undefined;
}

/** More than this of an error's body is not looked at. */
const MAX_BYTES = 64 * 1024;

/** An answer that is none: an error status, or a body of another form than was asked for. */
class RefusedResponse implements ResponseSink {
  private chunks: Uint8Array[] = [];
  private size = 0;
  private readonly patience: NodeJS.Timeout;

  constructor(
    private readonly out: Subscriber<Frame>,
    private readonly adapter: UpstreamAdapter,
    private readonly status: number,
    private readonly headers: UpstreamHeaders,
    patienceMs: number,
  ) {
    this.patience = setTimeout(() => this.end(), patienceMs);
  }

  chunk(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    this.size += bytes.length;
    if (this.size > MAX_BYTES) this.end();
  }

  /** What there is of its words says it: another channel may be waiting, and so is the client. */
  end(): void {
    this.out.error(this.errorIn(parsed(Buffer.concat(this.chunks).subarray(0, MAX_BYTES))));
  }

  /** Its status says more than that its words were cut short. */
  fail(): void {
    this.end();
  }

  stop(): void {
    clearTimeout(this.patience);
    this.chunks = [];
  }

  private errorIn(body: unknown): AppError {
    if (this.status < 200 || this.status >= 300) return this.adapter.classifyError(this.status, this.headers, body);
    // A success that says it is an error is one; a success of the wrong form is the upstream's fault.
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
    // An error page or plain text: classified by its status, quoted at most.
    return text;
  }
}

const NAMES = ['x-request-id', 'request-id'];
/** Whatever a server writes there is only kept, and shown to operators. */
const NOT_PRINTABLE = /[^\x20-\x7e]/g;
const MAX_CHARACTERS = 200;

/** What the upstream calls the request, for whoever asks its support about it; empty when it does not say. */
function upstreamRequestId(headers: UpstreamHeaders): string {
  for (const name of NAMES) {
    const value = headers[name];
    const text = typeof value === 'string' ? value : value?.[0];
    if (text !== undefined && text !== '') return text.replace(NOT_PRINTABLE, '').slice(0, MAX_CHARACTERS);
  }
  return '';
}
