import type { CallBody } from './call-body.js';

/** Replaces the bytes `[start, end)` by the text. Equal bounds insert. */
export interface JsonEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The body with edits applied; the body itself without edits.
 * @throws RangeError as `SplicedBody`
 */
export function splice(body: Uint8Array, edits: readonly JsonEdit[]): Uint8Array {
  return edits.length === 0 ? body : Buffer.concat(pieces(body, inOrder(body, edits)));
}

/** A body with edits as a list of pieces, without copying large parts. */
export class SplicedBody {
  /** In bytes. */
  readonly length: number;
  private readonly edits: readonly JsonEdit[];

  /**
   * Edits in any order; insertions at the same position keep theirs.
   * @throws RangeError when edits overlap or are outside the body
   */
  constructor(
    private readonly body: CallBody,
    edits: readonly JsonEdit[] = [],
  ) {
    this.edits = inOrder(body.bytes, edits);
    this.length = this.edits.reduce(
      (length, { start, end, text }) => length + Buffer.byteLength(text) - (end - start),
      body.bytes.length,
    );
  }

  /** In order; views of the body, not copies. */
  pieces(): Uint8Array[] {
    return pieces(this.body.bytes, this.edits);
  }
}

function inOrder(body: Uint8Array, edits: readonly JsonEdit[]): readonly JsonEdit[] {
  const sorted = edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
  let copiedTo = 0;
  for (const { start, end } of sorted) {
    if (start < copiedTo || end < start || end > body.length) {
      throw new RangeError(`The edit of bytes ${start} to ${end} overlaps another or leaves the body.`);
    }
    copiedTo = end;
  }
  return sorted;
}

function pieces(body: Uint8Array, edits: readonly JsonEdit[]): Uint8Array[] {
  const found: Uint8Array[] = [];
  let copiedTo = 0;
  for (const { start, end, text } of edits) {
    found.push(body.subarray(copiedTo, start), Buffer.from(text));
    copiedTo = end;
  }
  found.push(body.subarray(copiedTo));
  return found;
}
