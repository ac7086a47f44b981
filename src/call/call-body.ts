/** How large a request is, for the estimate of its prompt. */
export interface BodySize {
  /** All bytes of the body. */
  readonly bytes: number;
  /** Bytes inside long base64 strings: images and files, which are not counted as text. */
  readonly encodedBytes: number;
  /** Images of either form, inline or by reference. */
  readonly images: number;
}

/**
 * The bytes of a request, as they came. Whoever made it may drop them once nothing of an answer can come from another
 * channel any more: an answer may take half an hour, and a prompt 60 MB.
 */
export interface CallBody {
  /** All of them, in one piece of memory. */
  readonly bytes: Buffer;
}
