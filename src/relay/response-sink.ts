import type { Subscriber } from 'rxjs';
import { AppError } from '../platform/shared/index.js';
import type { Frame } from '../protocols/contract/index.js';

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

  private constructor(private readonly most: number) {}

  static ofWhole(): ResponseSize {
    return new ResponseSize(MAX_BYTES);
  }

  static ofStream(): ResponseSize {
    return new ResponseSize(STREAM_FACTOR * MAX_BYTES);
  }

  /** @throws AppError upstream_error when it is too large */
  add({ length }: Uint8Array): void {
    this.bytes += length;
    if (this.bytes > this.most) throw new AppError('upstream_error', 'The upstream response is too large.');
  }
}
