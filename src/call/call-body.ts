import type { Buffer } from 'node:buffer';
import type { DeclaredMedia } from './declared-media.js';
import { maxTokensIn } from './token-estimate.js';

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
  /** The longest time that parts of it may be marked to be cached for; absent: none is marked. */
  readonly cacheLifetime?: '5m' | '1h';
}

/** Names and values may be written with escapes. */
const ESCAPE = '\\u00';

/** By what stands anywhere in the body: it may be more than is really marked, never less. */
function cacheLifetimeIn(body: Buffer): '5m' | '1h' | undefined {
  const isEscaped = body.includes(ESCAPE);
  if (!isEscaped && !body.includes('"cache_control"')) return undefined;
  return isEscaped || body.includes('"1h"') ? '1h' : '5m';
}

/** @param media in the order of their places */
export function sizeOf(body: Buffer, media: readonly DeclaredMedia[], images: number): BodySize {
  let encodedBytes = 0;
  let maxTextTokens = 0;
  let from = 0;
  for (const { start, end } of media) {
    encodedBytes += end - start;
    maxTextTokens += maxTokensIn(body, from, start);
    from = end;
  }
  const cacheLifetime = cacheLifetimeIn(body);
  return {
    ...(cacheLifetime && { cacheLifetime }),
    bytes: body.length,
    encodedBytes,
    images,
    maxTextTokens: maxTextTokens + maxTokensIn(body, from, body.length),
    media,
  };
}

/**
 * The bytes of a request, as they came. Whoever made it may drop them once nothing of an answer can come from another
 * channel any more: an answer may take half an hour, and a prompt 60 MB.
 */
export interface CallBody {
  /** All of them, in one piece of memory. */
  readonly bytes: Buffer;
  /** What its prompt can be counted by at any time: all bytes, or a part of them; undefined when nothing was kept. */
  readonly countable?: Buffer | PromptSample | undefined;
}

/** Pieces from all over a large body, as they stand in it. */
export interface PromptSample {
  readonly texts: readonly string[];
  /** How many times more the body has. */
  readonly share: number;
}
