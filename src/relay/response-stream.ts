import type { Subscriber } from 'rxjs';
import { AppError } from '../platform/shared/index.js';
import {
  type CallSignal,
  type Frame,
  HIDDEN,
  type MeterReading,
  NO_BYTES,
  PASSED,
  type SseEvent,
  SseSplitter,
  type StreamMeter,
} from '../protocols/contract/index.js';
import type { ReplyState } from './call-context.js';
import type { RelayTimings } from './relay-timings.js';

/** Bytes, or characters before encoding. */
const MAX_PRELUDE_SIZE = 64 * 1024;
/** Max size of comments and the like before the response; clients get our own keep-alives. */
const MAX_IDLE_SIZE = 4 * 1024;
/** Blank lines only: no event. */
const EMPTY_LINES = 2;

/** Bytes, or text to be encoded. */
type RawChunk = Uint8Array | string;

/**
 * A stream to the client: whole events as left or produced by the meter, those of one upstream chunk in one frame.
 * Verbatim events are unchanged except for line ends that some clients cannot parse. Holds back events before the first
 * content, and the end until it is complete.
 */
export class ResponseStream implements ResponseSink {
  private readonly splitter = new SseSplitter();
  private prelude: RawChunk[] = [];
  private preludeSignals: CallSignal[] = [];
  private preludeSize = 0;
  private preludeTimer: NodeJS.Timeout | undefined;
  private ending: RawChunk[] | undefined;
  private endingSignals: CallSignal[] = [];
  private lingerTimer: NodeJS.Timeout | undefined;
  /** An event of the response itself has arrived. */
  private hasStarted = false;
  private over = false;
  /** Size of keep-alives before the response. */
  private idleSize = 0;

  constructor(
    private readonly out: FrameOutlet,
    private readonly meter: StreamMeter,
    private readonly response: ReplyState,
    private readonly timings: RelayTimings,
  ) {}

  chunk(bytes: Uint8Array): void {
    try {
      this.pass(this.splitter.next(bytes));
    } catch (error) {
      this.refuse(error);
    }
  }

  end(): void {
    try {
      this.pass(this.splitter.end());
      this.complete();
    } catch (error) {
      this.refuse(error);
    }
  }

  /** A broken connection after a complete response does not matter. */
  fail(error: unknown): void {
    try {
      this.complete();
    } catch {
      // It was incomplete, and the connection error says why.
      this.refuse(error);
    }
  }

  stop(): void {
    clearTimeout(this.preludeTimer);
    clearTimeout(this.lingerTimer);
  }

  private pass(events: readonly SseEvent[]): void {
    const pieces: RawChunk[] = [];
    const signals: CallSignal[] = [];
    try {
      for (const event of events) {
        if (this.over || this.meter.closed) break;
        const reading = event.isComment ? this.comments : this.read(event);
        // Keep-alives pass but do not start the response.
        const isIdle = event.isComment || reading.keepsAlive === true;
        if (isIdle && !this.hasStarted && (this.idleSize += event.wire.length) > MAX_IDLE_SIZE) continue;
        if (reading.last) this.ending ??= [];
        const output = reading.replacement ?? event.wire;
        if (output.length > EMPTY_LINES) (this.ending ?? pieces).push(output);
        (this.ending ? this.endingSignals : signals).push(...reading.signals);
      }
    } finally {
      // Content before a failure in the same chunk still belongs to the client.
      this.release(pieces, signals);
    }
    if (this.ending !== undefined) this.linger();
  }

  private get comments(): MeterReading {
    return this.meter.hidesComments === true ? HIDDEN : PASSED;
  }

  private read(event: SseEvent): MeterReading {
    const reading = this.meter.next(event);
    this.response.tail = { first: this.response.tail.first ?? event, last: event };
    if (reading.replacement?.length !== 0 && reading.keepsAlive !== true) this.hasStarted = true;
    return reading;
  }

  private release(pieces: RawChunk[], signals: CallSignal[]): void {
    if (pieces.length === 0 && signals.length === 0) return;
    if (this.response.committed) return this.emit(pieces, signals);
    this.prelude.push(...pieces);
    this.preludeSignals.push(...signals);
    this.preludeSize += pieces.reduce((sum, { length }) => sum + length, 0);
    if (signals.some(({ type }) => type === 'content') || this.preludeSize > MAX_PRELUDE_SIZE) this.commit();
    else if (this.hasStarted) this.preludeTimer ??= setTimeout(() => this.commit(), this.timings.preludeMs);
  }

  private commit(): void {
    clearTimeout(this.preludeTimer);
    const [pieces, signals] = [this.prelude, this.preludeSignals];
    this.prelude = [];
    this.preludeSignals = [];
    this.emit(pieces, signals);
  }

  private emit(pieces: readonly RawChunk[], signals: readonly CallSignal[]): void {
    this.response.commit();
    this.out.next({ bytes: join(pieces), signals, last: false });
  }

  /**
   * The response is complete. Waits for trailing events of the protocol, then for the end of the body, so that the
   * connection can be reused.
   */
  private linger(): void {
    if (this.meter.abandons === true) return this.complete();
    if (this.meter.closed) this.finish();
    this.lingerTimer ??= setTimeout(() => this.complete(), this.timings.lingerMs);
  }

  /** @throws AppError upstream_truncated when the response must not end here */
  private complete(): void {
    if (!this.over && this.ending === undefined) {
      const { replacement = NO_BYTES, signals } = this.meter.end();
      this.ending = [replacement];
      this.endingSignals.push(...signals);
    }
    this.finish();
    this.out.complete();
  }

  private finish(): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.preludeTimer);
    const pieces = [...this.prelude, ...(this.ending ?? [])];
    this.response.commit();
    this.out.next({ bytes: join(pieces), signals: [...this.preludeSignals, ...this.endingSignals], last: true });
  }

  private refuse(error: unknown): void {
    this.stop();
    this.out.error(error);
  }
}

/** Encodes text at once: per event it would be a fifth of a translation's cost. */
function join(pieces: readonly RawChunk[]): Uint8Array {
  if (pieces.every((piece) => typeof piece === 'string')) return Buffer.from(pieces.join(''));
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  return asOneView(bytes) ?? Buffer.concat(bytes);
}

/** Pieces that follow each other in memory, as unchanged events of one chunk do, without a copy. */
function asOneView(pieces: readonly Uint8Array[]): Uint8Array | undefined {
  const [first] = pieces;
  if (first === undefined) return NO_BYTES;
  let end = first.byteOffset;
  for (const { buffer, byteOffset, length } of pieces) {
    if (buffer !== first.buffer || byteOffset !== end) return undefined;
    end += length;
  }
  return Buffer.from(first.buffer, first.byteOffset, end - first.byteOffset);
}

/** Consumes the body of an upstream response. */
export interface ResponseSink {
  chunk(bytes: Uint8Array): void;
  /** The body is complete. */
  end(): void;
  /** The connection broke. */
  fail(error: unknown): void;
  /** Unsubscribed: release timers. */
  stop(): void;
}

/** Receives frames: a subscriber, or something in front of it. */
export type FrameOutlet = Pick<Subscriber<Frame>, 'next' | 'error' | 'complete'>;

/** Larger bodies cannot be responses and would exhaust memory. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Streams may be larger by this factor, since their events are repetitive. */
const STREAM_FACTOR = 4;

/** Measures a buffered response. */
export class ResponseSize {
  private bytes = 0;

  private constructor(private readonly maxBytes: number) {}

  static ofWhole(): ResponseSize {
    return new ResponseSize(MAX_BYTES);
  }

  static ofStream(): ResponseSize {
    return new ResponseSize(STREAM_FACTOR * MAX_BYTES);
  }

  /** @throws AppError upstream_error when it is too large */
  add({ length }: Uint8Array): void {
    this.bytes += length;
    if (this.bytes > this.maxBytes) throw new AppError('upstream_error', 'The upstream response is too large.');
  }
}
