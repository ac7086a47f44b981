import type { CallHead } from './call.js';
import type { CallBody } from './call-body.js';
import { type JsonFields, JsonReader } from './json-fields.js';
import type { JsonInterest } from './json-interests.js';

/**
 * Reads the head of one call while its body arrives, so that the end of a large body is no more work than its last part.
 * A synchronous state machine: no I/O, no clock. Everything it throws is an AppError invalid_request naming the member
 * at fault; what is wrong with the grammar is told as soon as it is seen.
 */
export interface HeadReader {
  /** The body so far: each time the same bytes as before and more. A short body may do without. */
  next(arrived: Uint8Array): void;
  /** The whole body. */
  end(body: CallBody): CallHead;
}

/** The reader of a dialect that interprets these members; `headOf` is asked once all of them are known. */
export function headReader(interests: JsonInterest, headOf: (fields: JsonFields) => CallHead): HeadReader {
  const reader = new JsonReader(interests);
  return {
    next: (arrived) => reader.next(arrived),
    end: (body) => headOf(reader.end(body)),
  };
}
