import { AppError } from '../../platform/shared/index.js';
import { CR, LF } from './json-text.js';
import { SseEvent } from './sse-event.js';

const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/**
 * Cuts the bytes of one stream into events, whatever the chunks. Lines may end with LF, CRLF or CR. One per stream,
 * fed in order, ended once; the cost is linear in the bytes, however many chunks an event comes in.
 */
export class SseSplitter {
  /** Chunks of the event that is not complete yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** No byte of the current line has been seen. */
  #lineStart = true;
  /** The last byte was CR: a line feed that follows belongs to it. */
  #afterCr = false;

  /** @param maxEventBytes what one event may measure before the stream counts as broken */
  constructor(private readonly maxEventBytes: number = MAX_EVENT_BYTES) {}

  /** The events that this chunk completes. @throws AppError upstream_error when an event is too large */
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
   * What is left when the stream has ended: an event that lacks only its empty line. A last line that was cut before
   * its end counts when its data is whole: JSON, or the marker `[DONE]`.
   */
  end(): readonly SseEvent[] {
    if (this.#heldBytes === 0) return [];
    const lineStart = this.#lineStart;
    const event = this.#take(Buffer.alloc(0));
    if (event.isComment) return [];
    return lineStart || isWhole(event.data) ? [event] : [];
  }

  /** Behind the next event when the chunk has line feeds only; -1 when it does not end in this chunk. */
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

  /** The same for any mixture of line ends. */
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
