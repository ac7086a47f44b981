import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/index.js';

/** What the answers that clients may share take of memory, all together. */
@Injectable()
export class SharedMemory {
  private readonly limit: number;
  private taken = 0;

  constructor({ sharedMemoryBytes }: Config) {
    this.limit = sharedMemoryBytes;
  }

  /** Bytes that are kept now. */
  get takenBytes(): number {
    return this.taken;
  }

  /** More is kept than should be. */
  get isShort(): boolean {
    return this.taken > this.limit;
  }

  /** Counts them in any case: it is for whoever keeps them to keep less when memory is short. */
  take(bytes: number): void {
    this.taken += bytes;
  }

  giveBack(bytes: number): void {
    this.taken -= bytes;
  }
}
