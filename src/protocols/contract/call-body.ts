import type { Buffer } from 'node:buffer';
import type { DeclaredMedia } from './declared-media.js';
import { MAX_WEIGHED_BYTES, maxTokensIn } from './token-estimate.js';

/** How large a request is, for the estimate of its prompt. */
export interface BodySize {
  /** All bytes of the body. */
  readonly bytes: number;
  /** Bytes of the encoded images, sounds and files in it, which are not counted as text. */
  readonly encodedBytes: number;
  /** Images of either form, inline or by reference. */
  readonly images: number;
  /** Its text has no more tokens; absent: half of its bytes are taken for that. */
  readonly maxTextTokens?: number;
  /** Encoded images, sounds and files, in order; absent where the body was not scanned for them. */
  readonly media?: readonly DeclaredMedia[];
  /** JSON values in it; absent where the body was not scanned. */
  readonly values?: number;
  /** The longest time that parts of it may be marked to be cached for; absent: none is marked. */
  readonly cacheLifetime?: '5m' | '1h';
}

/** Weighs at most `MAX_WEIGHED_BYTES` of text, all pieces together. @param media in the order of their places */
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
 * The bytes of a request, as they came. Whoever made it may drop them once nothing of an answer can come from another
 * channel any more: an answer may take half an hour, and a prompt 60 MB.
 */
export interface CallBody {
  /** All of them, in one piece of memory. */
  readonly bytes: Buffer;
  /**
   * Counts memory derived from the body, until it is counted again or the body is dropped. Absent where none is counted.
   * @param bytes beside its own
   * @throws AppError server_is_overloaded
   */
  countBeside?(bytes: number): void;
  /** What its prompt can be counted by at any time: all bytes, or a part of them; undefined when nothing was kept. */
  readonly countable?: Buffer | PromptSample | undefined;
}

/** Pieces from all over a large body, undecoded. */
export interface PromptSample {
  readonly texts: readonly string[];
  /** How many times more the body has. */
  readonly share: number;
}
