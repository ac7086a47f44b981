import { type Buffer, isUtf8 } from 'node:buffer';

/** Checks that bytes are UTF-8 as they arrive, each byte once. */
export class Utf8Check {
  private checkedTo = 0;

  /** False when the body so far, but for a character that has not come whole, is none. */
  next(body: Buffer): boolean {
    return this.check(body, wholeCharactersEnd(body, this.checkedTo));
  }

  /** False when the whole body is none. */
  end(body: Buffer): boolean {
    return this.check(body, body.length);
  }

  private check(body: Buffer, to: number): boolean {
    if (to <= this.checkedTo) return true;
    const from = this.checkedTo;
    this.checkedTo = to;
    return isUtf8(from === 0 && to === body.length ? body : body.subarray(from, to));
  }
}

/** The end of the bytes without a last character of which only the beginning is there. */
function wholeCharactersEnd(bytes: Buffer, from: number): number {
  const { length } = bytes;
  for (let at = length - 1; at >= from && at >= length - 3; at--) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    // A byte that begins a character; the others of a character begin with the bits 10.
    if (byte >= 0xc0) return length - at < characterLength(byte) ? at : length;
  }
  return length;
}

function characterLength(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
