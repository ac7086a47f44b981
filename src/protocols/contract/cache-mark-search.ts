import type { Buffer } from 'node:buffer';

/** Names and values may be written with escapes. */
const ESCAPE = '\\u00';
const MARK = '"cache_control"';
const HOUR = '"1h"';
/** What was looked at before may hold the beginning of one of these. */
const OVERLAP_BYTES = MARK.length - 1;

/**
 * The longest cache time that parts of a prompt may be marked with, found anywhere in the body: an upper bound. Searched as
 * the body arrives, because a native search of a large one takes long.
 */
export class CacheMarkSearch {
  private seen = 0;
  private isEscaped = false;
  private isMarked = false;
  private hasHour = false;

  /** The longest of these times; undefined when nothing is marked. */
  get cacheLifetime(): '5m' | '1h' | undefined {
    if (this.isEscaped) return '1h';
    if (!this.isMarked) return undefined;
    return this.hasHour ? '1h' : '5m';
  }

  /** The body so far: each time the same bytes as before and more. */
  next(body: Buffer): void {
    const news = this.seen <= OVERLAP_BYTES ? body : body.subarray(this.seen - OVERLAP_BYTES);
    this.seen = body.length;
    if (this.isEscaped) return;
    this.isEscaped = news.includes(ESCAPE);
    this.isMarked ||= news.includes(MARK);
    this.hasHour ||= news.includes(HOUR);
  }
}
