/** One surgical edit: the bytes `[start, end)` become the text. Equal bounds insert. */
export interface JsonEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The body with the edits made and every other byte as it was; the body itself when there are none.
 * Edits come in any order; those that insert at the same place keep theirs.
 * @throws RangeError when two edits overlap or one lies outside the body
 */
export function splice(body: Uint8Array, edits: readonly JsonEdit[]): Uint8Array {
  if (edits.length === 0) return body;
  const pieces: Uint8Array[] = [];
  let kept = 0;
  for (const edit of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    if (edit.start < kept || edit.end < edit.start || edit.end > body.length) {
      throw new RangeError(`The edit of bytes ${edit.start} to ${edit.end} overlaps another or leaves the body.`);
    }
    pieces.push(body.subarray(kept, edit.start), Buffer.from(edit.text));
    kept = edit.end;
  }
  pieces.push(body.subarray(kept));
  return Buffer.concat(pieces);
}
