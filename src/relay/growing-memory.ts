/** Up to here a body of unknown length is moved as it grows: copying so much takes no time. */
const STEPS = [64 * 1024, 1024 * 1024] as const;
const NO_BYTES = Buffer.alloc(0);

/**
 * One piece of memory that chunks are added to. Each is copied once, when it comes, so that nothing is left to do at the
 * end, and a chunk of one byte takes no more than that. The system gives memory to what is written only: to allocate
 * what a body may become costs nothing until it does.
 */
export class GrowingMemory {
  private memory: Buffer = NO_BYTES;
  private size = 0;

  /** @param capacity what is known or allowed to come; `isKnown`: all of it will */
  constructor(
    private readonly capacity: number,
    private readonly isKnown: boolean,
  ) {}

  get length(): number {
    return this.size;
  }

  /** What has been added so far. */
  get bytes(): Buffer {
    return this.memory.subarray(0, this.size);
  }

  /** The bytes become this memory's own. @throws RangeError beyond the capacity */
  add(chunk: Buffer): void {
    const size = this.size + chunk.length;
    if (size > this.capacity) throw new RangeError(`${size} bytes exceed the reserved ${this.capacity}.`);
    if (this.size === 0 && (!this.isKnown || size === this.capacity)) this.memory = chunk;
    else {
      if (size > this.memory.length) this.grow(size);
      chunk.copy(this.memory, this.size);
    }
    this.size = size;
  }

  private grow(size: number): void {
    const step = this.isKnown ? undefined : STEPS.find((bytes) => bytes >= size && bytes < this.capacity);
    const memory = Buffer.allocUnsafeSlow(step ?? this.capacity);
    this.memory.copy(memory, 0, 0, this.size);
    this.memory = memory;
  }
}
