import {
  type CallSignal,
  HIDDEN,
  type MeterReading,
  NO_BYTES,
  PASSED,
  type SseEvent,
  SseSplitter,
  type StreamMeter,
} from '../protocols/contract/index.js';
import type { CallContext } from './call-context.js';
import type { FrameOutlet, ResponseSink } from './response-sink.js';
import type { RelayTimings } from './relay-timings.js';

/** In bytes, or in characters of what is not encoded yet. */
const MAX_PRELUDE_SIZE = 64 * 1024;
/** Of comments and the like that come before an answer has begun: a client has our own keep-alives. */
const MAX_IDLE_SIZE = 4 * 1024;
/** What is left of lines that only separate: no event, and nothing for a client. */
const EMPTY_LINES = 2;

/** Bytes, or text that is not encoded yet. */
type Piece = Uint8Array | string;

/**
 * A stream on its way to its client: whole events, as the meter leaves them or makes them, all of one upstream chunk in
 * one frame. Events that pass are untouched but for line ends that some clients cannot read. Holds back the prelude until
 * content comes, and the end until it is complete.
 */
export class ResponseStream implements ResponseSink {
  private readonly splitter = new SseSplitter();
  private prelude: Piece[] = [];
  private preludeSignals: CallSignal[] = [];
  private preludeSize = 0;
  private preludeTimer: NodeJS.Timeout | undefined;
  private ending: Piece[] | undefined;
  private endingSignals: CallSignal[] = [];
  private lingerTimer: NodeJS.Timeout | undefined;
  /** An event of the answer itself has come. */
  private spoken = false;
  private over = false;
  /** What has come to keep the connection open, and nothing else. */
  private idleSize = 0;

  constructor(
    private readonly out: FrameOutlet,
    private readonly meter: StreamMeter,
    private readonly answer: CallContext,
    private readonly timings: RelayTimings,
  ) {}

  chunk(bytes: Uint8Array): void {
    this.guarded(() => this.pass(this.splitter.next(bytes)));
  }

  end(): void {
    this.guarded(() => {
      this.pass(this.splitter.end());
      this.complete();
    });
  }

  /** The connection broke, which is nothing to a client whose answer is complete. */
  fail(error: unknown): void {
    try {
      this.complete();
    } catch {
      // It was not complete, and the connection tells why.
      this.stop();
      this.out.error(error);
    }
  }

  stop(): void {
    clearTimeout(this.preludeTimer);
    clearTimeout(this.lingerTimer);
  }

  private pass(events: readonly SseEvent[]): void {
    const pieces: Piece[] = [];
    const signals: CallSignal[] = [];
    try {
      for (const event of events) {
        if (this.over || this.meter.closed) break;
        const reading = event.isComment ? this.comments : this.read(event);
        // What keeps a connection open says nothing of the answer: it passes where it stands, and begins nothing.
        const isIdle = event.isComment || reading.keepsAlive === true;
        if (isIdle && !this.spoken && (this.idleSize += event.wire.length) > MAX_IDLE_SIZE) continue;
        if (reading.last) this.ending ??= [];
        const shown = reading.replacement ?? event.wire;
        if (shown.length > EMPTY_LINES) (this.ending ?? pieces).push(shown);
        (this.ending ? this.endingSignals : signals).push(...reading.signals);
      }
    } finally {
      // What came before a failure in the same chunk is still the client's.
      this.release(pieces, signals);
    }
    if (this.ending !== undefined) this.linger();
  }

  private get comments(): MeterReading {
    return this.meter.hidesComments === true ? HIDDEN : PASSED;
  }

  private read(event: SseEvent): MeterReading {
    const reading = this.meter.next(event);
    this.answer.tail = { first: this.answer.tail.first ?? event, last: event };
    if (reading.replacement?.length !== 0 && reading.keepsAlive !== true) this.spoken = true;
    return reading;
  }

  private release(pieces: Piece[], signals: CallSignal[]): void {
    if (pieces.length === 0 && signals.length === 0) return;
    if (this.answer.committed) return this.emit(pieces, signals);
    this.prelude.push(...pieces);
    this.preludeSignals.push(...signals);
    this.preludeSize += pieces.reduce((sum, { length }) => sum + length, 0);
    if (signals.some(({ type }) => type === 'content') || this.preludeSize > MAX_PRELUDE_SIZE) this.commit();
    else if (this.spoken) this.preludeTimer ??= setTimeout(() => this.commit(), this.timings.preludeMs);
  }

  private commit(): void {
    clearTimeout(this.preludeTimer);
    const [pieces, signals] = [this.prelude, this.preludeSignals];
    this.prelude = [];
    this.preludeSignals = [];
    this.emit(pieces, signals);
  }

  private emit(pieces: readonly Piece[], signals: readonly CallSignal[]): void {
    this.answer.commit();
    this.out.next({ bytes: join(pieces), signals, last: false });
  }

  /**
   * The answer is complete. What its dialect may still send behind it is waited for, so that it passes too; then only for
   * the upstream's end, so that its connection can be used again.
   */
  private linger(): void {
    if (this.meter.abandons === true) return this.complete();
    if (this.meter.closed) this.finish();
    this.lingerTimer ??= setTimeout(() => this.complete(), this.timings.lingerMs);
  }

  /** @throws AppError upstream_truncated when the answer may not end here */
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
    this.answer.commit();
    this.out.next({ bytes: join(pieces), signals: [...this.preludeSignals, ...this.endingSignals], last: true });
  }

  private guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.stop();
      this.out.error(error);
    }
  }
}

/** Text is encoded all at once: event by event that is a fifth of what a translation costs. */
function join(pieces: readonly Piece[]): Uint8Array {
  if (pieces.every((piece) => typeof piece === 'string')) return Buffer.from(pieces.join(''));
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  return bytes.length === 1 ? (bytes[0] ?? NO_BYTES) : Buffer.concat(bytes);
}
