import type { ExpansionLimit } from '../platform/shared/index.js';
import { expandsTooFar, tooLarge, tooManyChunks } from './body.errors.js';

/** No program writes its body in so many pieces that are so small; to take one apart costs more than to read it. */
const MANY_CHUNKS = 4096;
const MIN_CHUNK_BYTES = 16;

/** How much of a body has come, held against what may come. */
export class BodyMeasure {
  private bytes = 0;
  private chunks = 0;

  /** @param expansion for what has been decompressed */
  constructor(
    private readonly maxBytes: number,
    private readonly expansion?: ExpansionLimit,
  ) {}

  /** @returns all bytes so far. @throws AppError when these are too many, or come in crumbs */
  add(chunk: Buffer): number {
    this.bytes += chunk.length;
    this.chunks += 1;
    if (this.chunks > MANY_CHUNKS && this.bytes < this.chunks * MIN_CHUNK_BYTES) throw tooManyChunks(MIN_CHUNK_BYTES);
    if (this.bytes > this.maxBytes) throw tooLarge(this.maxBytes);
    if (this.expansion?.isExceededBy(this.bytes) === true) throw expandsTooFar();
    return this.bytes;
  }
}
