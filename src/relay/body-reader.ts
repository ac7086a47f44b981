import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError } from '../platform/shared/index.js';
import type { BodyShare } from './body-budget.js';
import { BodyMeasure } from './body-measure.js';
import { left, tooSlow } from './body.errors.js';
import { GrowingMemory } from './growing-memory.js';
import type { RelayTimings } from './relay-timings.js';
import type { TimeSlicer } from './time-slicer.js';

/** So much is looked at in one go. */
export const SLICE_BYTES = 64 * 1024;
/** The client is not listened to while more than this has come that nobody has looked at. */
const MAX_AHEAD_BYTES = 4 * SLICE_BYTES;

/** What a body is read from: the request, or what decodes it. */
export type BodySource = Readable & { readonly headers: Pick<IncomingHttpHeaders, 'content-length'> };

/** Looks at a body as it arrives. */
export interface BodyWatcher {
  /** The body so far. What it throws ends the reading. */
  next(arrived: Buffer): void;
}

interface ReadingLimits {
  readonly maxBytes: number;
  readonly share: BodyShare;
  readonly timings: RelayTimings;
  readonly turns: TimeSlicer;
}

/**
 * The bytes of one request's body as they come. Its watcher has seen all but the last slice of them when they are
 * complete, each in its turn.
 */
export class BodyReader {
  private readonly measure: BodyMeasure;
  private memory: GrowingMemory;
  private seen = 0;
  private isComplete = false;
  private isWaiting = false;
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

  /** @throws AppError when it is too large or too slow, takes more memory than there is, or when the client has left */
  read(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      // While the key was checked the client may have left, and its leaving is not told twice.
      if (this.source.destroyed) return reject(left());
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
    if (this.ahead > SLICE_BYTES) this.wait();
    if (this.ahead > MAX_AHEAD_BYTES) this.source.pause();
  };

  private readonly onEnd = (): void => {
    this.isComplete = true;
    this.limits.share.endUpload();
    if (!this.isWaiting) this.finish();
  };

  private readonly onLeft = (error?: unknown): void => {
    if (!this.isComplete) this.fail(error instanceof AppError ? error : left());
  };

  /** Bytes that the watcher has not seen. */
  private get ahead(): number {
    return this.memory.length - this.seen;
  }

  private wait(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.limits.turns.take(() => this.look());
  }

  private look(): void {
    this.isWaiting = false;
    if (this.isOver) return;
    this.seen += SLICE_BYTES;
    try {
      this.watcher.next(this.memory.bytes.subarray(0, this.seen));
    } catch (error) {
      return this.fail(error);
    }
    if (this.ahead > SLICE_BYTES) this.wait();
    else if (this.isComplete) return this.finish();
    if (this.ahead <= MAX_AHEAD_BYTES) this.source.resume();
  }

  /** The whole body within the time, or so much of it in each such time. */
  private demandSpeed(): void {
    const { bodyMs, bodyBytesPerSecond } = this.limits.timings;
    const came = this.memory.length - this.bytesBefore;
    this.bytesBefore = this.memory.length;
    if (this.isComplete || came >= (bodyBytesPerSecond * bodyMs) / 1000) return;
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
    // The rest is not read by anybody but for whoever answers.
    this.source.pause();
    this.refuse(error);
  }

  private stop(): void {
    this.isOver = true;
    this.limits.share.endUpload();
    // The request outlives its body, and knows this reader.
    this.memory = new GrowingMemory(0, true);
    clearInterval(this.slowTimer);
    this.source.off('data', this.onData).off('end', this.onEnd).off('close', this.onLeft);
  }
}

/** The length that the client says its body has; undefined when it says none. */
export function announcedBytes({ headers }: BodySource): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}
