import { AppError } from '../../platform/shared/index.js';
import { CR, LF } from './json-text.js';
import { SseEvent } from './sse-event.js';

const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/**
 * Splits a stream into events, whatever its chunks. Accepts LF, CRLF and CR. Linear in the bytes, however many chunks
 * an event spans.
 */
export class SseSplitter {
  /** Chunks of the incomplete event. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #lineStart = true;
  /** After a CR: a following LF belongs to it. */
  #afterCr = false;

  /** @param maxEventBytes larger events fail the stream */
  constructor(private readonly maxEventBytes: number = MAX_EVENT_BYTES) {}

  /** Events completed by this chunk. @throws AppError upstream_error when an event is too large */
  next(chunk: Uint8Array): readonly SseEvent[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const plain = !this.#afterCr && !bytes.includes(CR);
    const events: SseEvent[] = [];
    let start = 0;
    while (start < bytes.length) {
      const end = plain ? this.#plainEventEnd(bytes, start) : this.#eventEnd(bytes, start);
      if (end === -1) break;
      events.push(this.#take(bytes.subarray(start, end)));
      start = end;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
    return events;
  }

  /**
   * The event at the end of the stream without its empty line. An unterminated last line counts if its data is
   * complete: JSON or `[DONE]`.
   */
  end(): readonly SseEvent[] {
    if (this.#heldBytes === 0) return [];
    const lineStart = this.#lineStart;
    const event = this.#take(Buffer.alloc(0));
    if (event.isComment) return [];
    return lineStart || isWhole(event.data) ? [event] : [];
  }

  /** End of the next event if lines end with LF; -1 if not in this chunk. */
  #plainEventEnd(bytes: Buffer, start: number): number {
    if (this.#lineStart && bytes[start] === LF) return start + 1;
    let lineStart = start;
    for (;;) {
      const feed = bytes.indexOf(LF, lineStart);
      lineStart = feed + 1;
      this.#lineStart = feed !== -1;
      if (feed === -1 || lineStart === bytes.length) return -1;
      if (bytes[lineStart] === LF) return lineStart + 1;
    }
  }

  /** The same for mixed line ends. */
  #eventEnd(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at];
      const isSecondHalf = byte === LF && this.#afterCr;
      this.#afterCr = byte === CR;
      if (isSecondHalf) continue;
      const endsLine = byte === LF || byte === CR;
      if (!endsLine || !this.#lineStart) {
        this.#lineStart = endsLine;
        continue;
      }
      if (byte === LF || bytes[at + 1] !== LF) return at + 1;
      this.#afterCr = false;
      return at + 2;
    }
    return -1;
  }

  #take(last: Buffer): SseEvent {
    this.#hold(last);
    const raw = this.#held.length === 1 ? last : Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    return new SseEvent(raw);
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > this.maxEventBytes) {
      throw new AppError('upstream_error', 'The upstream sent an event that is too large.', { failover: true });
    }
    this.#held.push(bytes);
  }
}

function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}
