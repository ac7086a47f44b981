import type { Subscriber } from 'rxjs';
import { AppError } from '../platform/shared/index.js';
import type { Frame } from '../protocols/contract/index.js';

/** Takes the body of an upstream's answer as it comes. */
export interface ResponseSink {
  chunk(bytes: Uint8Array): void;
  /** The body has ended in order. */
  end(): void;
  /** The body has broken off. */
  fail(error: unknown): void;
  /** Nobody listens any more: drop timers. */
  stop(): void;
}

/** Where the frames of an answer go: a subscriber, or what stands in front of it. */
export type FrameOutlet = Pick<Subscriber<Frame>, 'next' | 'error' | 'complete'>;

/** What is larger cannot be an answer, and would be held in memory. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Bytes of a stream that are one of what it says, at the most: its events are repetitive. */
const STREAM_FACTOR = 4;

/** How much of an answer has come that is kept until it is complete. */
export class ResponseSize {
  private bytes = 0;

  private constructor(private readonly most: number) {}

  static ofWhole(): ResponseSize {
    return new ResponseSize(MAX_BYTES);
  }

  static ofStream(): ResponseSize {
    return new ResponseSize(STREAM_FACTOR * MAX_BYTES);
  }

  /** @throws AppError upstream_error when it is more than an answer can be */
  add({ length }: Uint8Array): void {
    this.bytes += length;
    if (this.bytes > this.most) throw new AppError('upstream_error', 'The upstream response is too large.');
  }
}
