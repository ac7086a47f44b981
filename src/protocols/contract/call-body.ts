import type { Buffer } from 'node:buffer';
import type { DeclaredMedia } from './prompt-content.js';
import { MAX_WEIGHED_BYTES, maxTokensIn } from './token-estimate.js';

/** Size of a request. */
export interface BodySize {
  readonly bytes: number;
  /** Bytes of encoded images, audio and files, which are not text. */
  readonly encodedBytes: number;
  readonly images: number;
  /** Upper bound of the text's tokens; absent: half of its bytes. */
  readonly maxTextTokens?: number;
  /** Encoded images, audio and files in order; absent if the body was not scanned. */
  readonly media?: readonly DeclaredMedia[];
  /** Number of JSON values; absent if not scanned. */
  readonly values?: number;
  /** The longest cache lifetime requested for parts; absent: none. */
  readonly cacheLifetime?: '5m' | '1h';
}

/** @param media ordered by position */
export function sizeOf(body: Buffer, media: readonly DeclaredMedia[], images: number): BodySize {
  let encodedBytes = 0;
  let maxTextTokens = 0;
  let weighed = 0;
  let from = 0;
  const addText = (to: number): void => {
    const weighedTo = Math.min(to, from + MAX_WEIGHED_BYTES - weighed);
    if (weighedTo > from) maxTextTokens += maxTokensIn(body, from, weighedTo);
    maxTextTokens += to - weighedTo;
    weighed += weighedTo - from;
  };
  for (const { start, end } of media) {
    encodedBytes += end - start;
    addText(start);
    from = end;
  }
  addText(body.length);
  return { bytes: body.length, encodedBytes, images, maxTextTokens, media };
}

/**
 * The bytes of a request. Dropped once no other channel can respond: responses take up to half an hour, and prompts up
 * to 60 MB.
 */
export interface CallBody {
  readonly bytes: Buffer;
  /**
   * Reserves memory for derived data, until called again or the body is dropped. Absent where memory is not limited.
   * @param bytes besides the body's own
   * @throws AppError server_is_overloaded
   */
  countBeside?(bytes: number): void;
  /** Input for counting the prompt: all bytes or a sample; undefined if nothing was kept. */
  readonly countable?: Buffer | PromptSample | undefined;
}

/** Undecoded samples of a large body. */
export interface PromptSample {
  readonly texts: readonly string[];
  /** Size of the body divided by that of the samples. */
  readonly share: number;
}
