import type { IncomingMessage } from 'node:http';
import { AppError } from './app-error.js';

interface SmallBodyLimits {
  /** Used in errors: `form`. */
  readonly what: string;
  readonly maxBytes: number;
  /** Slower bodies are rejected. */
  readonly withinMs: number;
}

/**
 * Reads a small body completely. Uses events: leaving an async loop early would close the connection before the
 * response.
 * @throws AppError when it is too large or too slow, or when the client leaves
 */
export function readSmallBody(payload: IncomingMessage, limits: SmallBodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => stop(tooSlow(limits)), limits.withinMs);
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limits.maxBytes) return stop(tooLarge(limits));
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks));
    };
    const onLeft = (): void => stop(left(limits));
    function stop(error?: AppError): void {
      clearTimeout(timer);
      payload.off('data', onData).off('end', onEnd).off('close', onLeft);
      if (error === undefined) return;
      // The remaining body is discarded when the response is sent.
      payload.pause();
      reject(error);
    }
    // The body was already consumed; no `end` event will follow.
    if (payload.readableEnded) return onEnd();
    if (payload.destroyed) return onLeft();
    payload.on('data', onData).once('end', onEnd).once('error', onLeft).once('close', onLeft);
  });
}

const tooLarge = ({ what, maxBytes }: SmallBodyLimits): AppError =>
  new AppError('request_too_large', `The maximum size of a ${what} is ${maxBytes / 1024} KiB.`);

const tooSlow = ({ what, withinMs }: SmallBodyLimits): AppError =>
  new AppError('request_timeout', `The ${what} did not arrive within ${withinMs / 1000} seconds. Try again.`);

const left = ({ what }: SmallBodyLimits): AppError =>
  new AppError('context_canceled', `The client disconnected before its ${what} was complete.`);

/** Decompressed bytes per compressed byte. Real JSON compresses about 10 times, very repetitive JSON about 50 times. */
const MAX_RATIO = 100;
/** Always allowed, so that small and very repetitive bodies pass: decompressing this much takes about a millisecond. */
const MIN_LIMIT_BYTES = 1024 * 1024;

/** Limits what compressed bytes may expand to: 100 times their size, or 1 MiB if that is more. */
export class ExpansionLimit {
  private compressedBytes = 0;

  compressed({ length }: Uint8Array): void {
    this.compressedBytes += length;
  }

  /** @param bytes decompressed so far */
  isExceededBy(bytes: number): boolean {
    return bytes > Math.max(MIN_LIMIT_BYTES, MAX_RATIO * this.compressedBytes);
  }
}
