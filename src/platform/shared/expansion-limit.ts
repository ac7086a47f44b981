/** Decompressed bytes per compressed byte. Real JSON compresses about 10 times, very repetitive JSON about 50 times. */
const MAX_RATIO = 100;
/** Always allowed, so that small and very repetitive bodies pass: decompressing this much takes about a millisecond. */
const MIN_LIMIT_BYTES = 1024 * 1024;

/** Limits what compressed bytes may expand to: 100 times their size, or 1 MiB if that is more. */
export class ExpansionLimit {
  private compressedBytes = 0;

  compressed({ length }: Uint8Array): void {
    this.compressedBytes += length;
  }

  /** @param bytes decompressed so far */
  isExceededBy(bytes: number): boolean {
    return bytes > Math.max(MIN_LIMIT_BYTES, MAX_RATIO * this.compressedBytes);
  }
}
