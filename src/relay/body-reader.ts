import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError, type ExpansionLimit } from '../platform/shared/index.js';
import type { BodyShare } from './body-budget.js';
import type { RelayTimings } from './relay-timings.js';
import type { TimeSlicer } from './translation-job.js';

/** Bytes processed per event loop turn. */
export const SLICE_BYTES = 64 * 1024;
/** The request is paused while more than this is unprocessed. */
const MAX_AHEAD_BYTES = 4 * SLICE_BYTES;

/** A body as it arrives: of a request, or of a call made on a page. */
export interface IncomingBody extends Readable {
  readonly headers: Pick<IncomingHttpHeaders, 'content-length' | 'content-encoding'>;
  /** Whether all of a request has been received. */
  readonly complete?: boolean;
}

/** The body, or a decoder of it. */
type BodySource = Readable & { readonly headers: Pick<IncomingHttpHeaders, 'content-length'> };

/** Observes a body while it arrives. */
export interface BodyWatcher {
  /** The body so far. Errors end the reading. */
  next(arrived: Buffer): void;
}

interface ReadingLimits {
  readonly maxBytes: number;
  readonly share: BodyShare;
  readonly timings: RelayTimings;
  readonly slicer: TimeSlicer;
}

/** Reads one request body. When it is complete, its watcher has seen all but the last slice. */
export class BodyReader {
  private readonly measure: BodyMeasure;
  private memory: GrowingMemory;
  private seen = 0;
  private isComplete = false;
  private isScheduled = false;
  private isOver = false;
  private slowTimer: NodeJS.Timeout | undefined;
  private bytesBefore = 0;
  private succeed: (body: Buffer) => void = () => undefined;
  private refuse: (error: unknown) => void = () => undefined;

  constructor(
    private readonly source: BodySource,
    private readonly watcher: BodyWatcher,
    private readonly limits: ReadingLimits,
  ) {
    const announced = announcedBytes(source);
    this.measure = new BodyMeasure(limits.maxBytes);
    this.memory = new GrowingMemory(announced ?? limits.maxBytes, announced !== undefined);
  }

  /** @throws AppError when it is too large or too slow, exceeds the memory budget, or the client has left */
  read(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      // The client may have left during authentication; the event is not repeated.
      if (this.source.destroyed) return reject(clientLeft());
      this.succeed = resolve;
      this.refuse = reject;
      this.limits.share.beginUpload((error) => this.fail(error));
      this.source.on('data', this.onData).once('end', this.onEnd).once('error', this.onLeft).once('close', this.onLeft);
      this.slowTimer = setInterval(() => this.demandSpeed(), this.limits.timings.bodyMs);
    });
  }

  private readonly onData = (chunk: Buffer): void => {
    try {
      this.limits.share.growTo(this.measure.add(chunk));
    } catch (error) {
      return this.fail(error);
    }
    this.memory.add(chunk);
    if (this.ahead > SLICE_BYTES) this.schedule();
    if (this.ahead > MAX_AHEAD_BYTES) this.source.pause();
  };

  private readonly onEnd = (): void => {
    this.isComplete = true;
    this.limits.share.endUpload();
    if (!this.isScheduled) this.finish();
  };

  private readonly onLeft = (error?: unknown): void => {
    if (!this.isComplete) this.fail(error instanceof AppError ? error : clientLeft());
  };

  /** Bytes the watcher has not seen. */
  private get ahead(): number {
    return this.memory.length - this.seen;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.limits.slicer.take(() => this.inspect());
  }

  private inspect(): void {
    this.isScheduled = false;
    if (this.isOver) return;
    this.seen += SLICE_BYTES;
    try {
      this.watcher.next(this.memory.bytes.subarray(0, this.seen));
    } catch (error) {
      return this.fail(error);
    }
    if (this.ahead > SLICE_BYTES) this.schedule();
    else if (this.isComplete) return this.finish();
    if (this.ahead <= MAX_AHEAD_BYTES) this.source.resume();
  }

  /** Requires the whole body within the time limit, or a minimum amount per limit. */
  private demandSpeed(): void {
    const { bodyMs, bodyBytesPerSecond } = this.limits.timings;
    const received = this.memory.length - this.bytesBefore;
    this.bytesBefore = this.memory.length;
    if (this.isComplete || received >= (bodyBytesPerSecond * bodyMs) / 1000) return;
    this.fail(tooSlow(bodyMs, bodyBytesPerSecond));
  }

  private finish(): void {
    const { bytes } = this.memory;
    this.stop();
    this.succeed(bytes);
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    this.stop();
    // The rest is left to the sender of the response.
    this.source.pause();
    this.refuse(error);
  }

  private stop(): void {
    this.isOver = true;
    this.limits.share.endUpload();
    // The request outlives its body and holds a reference to this reader.
    this.memory = new GrowingMemory(0, true);
    clearInterval(this.slowTimer);
    this.source.off('data', this.onData).off('end', this.onEnd).off('close', this.onLeft);
  }
}

/** The value of Content-Length; undefined if absent. */
export function announcedBytes({ headers }: BodySource): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Up to these sizes a body of unknown length is copied as it grows, which is cheap. */
const STEPS = [64 * 1024, 1024 * 1024] as const;
const NO_BYTES = Buffer.alloc(0);

/**
 * A buffer that grows by copying each chunk once on arrival, so that completion costs nothing and tiny chunks cost no
 * more than their bytes. The system commits memory on write, so large capacities are free until used.
 */
export class GrowingMemory {
  private memory: Buffer = NO_BYTES;
  private size = 0;

  /**
   * @param capacity known or allowed size
   * @param isKnown whether all of it will arrive
   */
  constructor(
    private readonly capacity: number,
    private readonly isKnown: boolean,
  ) {}

  get length(): number {
    return this.size;
  }

  /** Everything added so far. */
  get bytes(): Buffer {
    return this.memory.subarray(0, this.size);
  }

  /** Copies a chunk. @throws RangeError beyond the capacity */
  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (size > this.capacity) throw new RangeError(`${size} bytes exceed the reserved ${this.capacity}.`);
    if (this.size === 0 && (!this.isKnown || size === this.capacity)) this.memory = chunk;
    else {
      if (size > this.memory.length) this.grow(size);
      chunk.copy(this.memory, this.size);
    }
    this.size = size;
  }

  private grow(size: number): void {
    const step = this.isKnown ? undefined : STEPS.find((bytes) => bytes >= size && bytes < this.capacity);
    const memory = Buffer.allocUnsafeSlow(step ?? this.capacity);
    this.memory.copy(memory, 0, 0, this.size);
    this.memory = memory;
  }
}

/** No real client sends this many tiny chunks; processing each costs more than its content. */
const MANY_CHUNKS = 4096;
const MIN_CHUNK_BYTES = 16;

/** Measures a body against its limits. */
export class BodyMeasure {
  private bytes = 0;
  private chunks = 0;

  /** @param expansion limit for decompressed data */
  constructor(
    private readonly maxBytes: number,
    private readonly expansion?: ExpansionLimit,
  ) {}

  /** @returns bytes so far @throws AppError when there are too many, or the chunks are too small */
  add(chunk: Buffer): number {
    this.bytes += chunk.length;
    this.chunks += 1;
    if (this.chunks > MANY_CHUNKS && this.bytes < this.chunks * MIN_CHUNK_BYTES) throw tooManyChunks(MIN_CHUNK_BYTES);
    if (this.bytes > this.maxBytes) throw tooLarge(this.maxBytes);
    if (this.expansion?.isExceededBy(this.bytes) === true) throw expandsTooFar();
    return this.bytes;
  }
}

// Errors of reading a body.

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('request_too_large', `The body exceeds the maximum of ${maxBytes} bytes.`);

const expandsTooFar = (): AppError =>
  new AppError(
    'request_too_large',
    'The body decompresses to more than 100 times its size. Send it uncompressed or with less compression.',
  );

const tooManyChunks = (minBytes: number): AppError =>
  new AppError('invalid_request', `The body arrives in too many chunks below ${minBytes} bytes. Send larger chunks.`);

const tooSlow = (bodyMs: number, bytesPerSecond: number): AppError =>
  new AppError(
    'request_timeout',
    `The body arrived too slowly: under ${bytesPerSecond} bytes per second for more than ${bodyMs / 1000} s.`,
  );

export const clientLeft = (): AppError =>
  new AppError('context_canceled', 'context canceled: the client disconnected before its request was complete.');
