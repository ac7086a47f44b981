import type { IncomingMessage } from 'node:http';
import { AppError } from '../shared/index.js';
import type { BodyShare } from './body-budget.js';
import { GrowingMemory } from './growing-memory.js';
import type { RelayTimings } from './relay-timings.js';
import type { Turns } from './turns.js';

/** So much is looked at in one go. */
export const SLICE_BYTES = 64 * 1024;
/** No program writes its body in so many pieces that are so small; to take one apart costs more than to read it. */
const MANY_CHUNKS = 4096;
const LEAST_CHUNK_BYTES = 16;
/** The client is not listened to while more than this has come that nobody has looked at. */
const MAX_AHEAD_BYTES = 4 * SLICE_BYTES;

/** Looks at a body as it arrives. */
export interface BodyWatcher {
  /** The body so far. What it throws ends the reading. */
  next(arrived: Buffer): void;
}

interface ReadingLimits {
  readonly maxBytes: number;
  readonly share: BodyShare;
  readonly timings: RelayTimings;
  readonly turns: Turns;
}

/**
 * The bytes of one request's body as they come. Its watcher has seen all but the last slice of them when they are
 * complete, each in its turn.
 */
export class BodyReader {
  private memory: GrowingMemory;
  private chunks = 0;
  private seen = 0;
  private isComplete = false;
  private isWaiting = false;
  private isOver = false;
  private slowTimer: NodeJS.Timeout | undefined;
  private bytesBefore = 0;
  private succeed: (body: Buffer) => void = () => undefined;
  private refuse: (error: unknown) => void = () => undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly watcher: BodyWatcher,
    private readonly limits: ReadingLimits,
  ) {
    const announced = announcedBytes(request);
    this.memory = new GrowingMemory(announced ?? limits.maxBytes, announced !== undefined);
  }

  /** @throws AppError when it is too large or too slow, takes more memory than there is, or when the client has left */
  read(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      // While the key was checked the client may have left, and its leaving is not told twice.
      if (this.request.destroyed) return reject(left());
      this.succeed = resolve;
      this.refuse = reject;
      this.request
        .on('data', this.onData)
        .once('end', this.onEnd)
        .once('error', this.onLeft)
        .once('close', this.onLeft);
      this.slowTimer = setInterval(() => this.demandSpeed(), this.limits.timings.bodyMs);
    });
  }

  private readonly onData = (chunk: Buffer): void => {
    const { maxBytes, share } = this.limits;
    const size = this.memory.length + chunk.length;
    if (++this.chunks > MANY_CHUNKS && size < this.chunks * LEAST_CHUNK_BYTES) return this.fail(tooManyChunks());
    if (size > maxBytes) return this.fail(tooLarge(maxBytes));
    try {
      share.growTo(size);
    } catch (error) {
      return this.fail(error);
    }
    this.memory.add(chunk);
    if (this.ahead > SLICE_BYTES) this.wait();
    if (this.ahead > MAX_AHEAD_BYTES) this.request.pause();
  };

  private readonly onEnd = (): void => {
    this.isComplete = true;
    if (!this.isWaiting) this.finish();
  };

  private readonly onLeft = (): void => {
    if (!this.isComplete) this.fail(left());
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
    if (this.ahead <= MAX_AHEAD_BYTES) this.request.resume();
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
    this.request.pause();
    this.refuse(error);
  }

  private stop(): void {
    this.isOver = true;
    // The request outlives its body, and knows this reader.
    this.memory = new GrowingMemory(0, true);
    clearInterval(this.slowTimer);
    this.request.off('data', this.onData).off('end', this.onEnd).off('close', this.onLeft);
  }
}

/** The length that the client says its body has; undefined when it says none. */
export function announcedBytes({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

export const tooLarge = (maxBytes: number): AppError =>
  new AppError('request_too_large', `The body is larger than the ${maxBytes} bytes that this service accepts.`);

const tooManyChunks = (): AppError =>
  new AppError(
    'invalid_request',
    `The body comes in too many pieces of less than ${LEAST_CHUNK_BYTES} bytes: send larger ones.`,
  );

const tooSlow = (bodyMs: number, bytesPerSecond: number): AppError =>
  new AppError(
    'request_timeout',
    `The body did not arrive in time: it takes longer than ${bodyMs / 1000} s and comes at less than ${bytesPerSecond} bytes a second.`,
  );

const left = (): AppError =>
  new AppError('context_canceled', 'context canceled: the client left before its request was complete.');
