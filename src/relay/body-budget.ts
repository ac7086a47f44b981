import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import { AppError } from '../shared/index.js';

/** Bodies come and go within seconds. */
const RETRY_AFTER_SECONDS = 2;

/** What the bodies of all calls may take of memory together. A body that does not fit is refused, not waited for. */
@Injectable()
export class BodyBudget {
  private taken = 0;

  constructor(private readonly config: Config) {}

  /** Bytes that are reserved now. */
  get takenBytes(): number {
    return this.taken;
  }

  /** @throws AppError server_is_overloaded */
  reserve(bytes: number): BodyShare {
    const share = new BodyShare((more) => this.take(more));
    share.growTo(bytes);
    return share;
  }

  private take(bytes: number): void {
    if (bytes > 0 && this.taken + bytes > this.config.bodyMemoryBytes)
      throw new AppError(
        'server_is_overloaded',
        'The requests that are being read take all the memory that there is for them. Try again in a moment.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    this.taken += bytes;
  }
}

/** What one body has of the budget. */
export class BodyShare {
  private bytes = 0;

  constructor(private readonly take: (bytes: number) => void) {}

  /** @throws AppError server_is_overloaded */
  growTo(bytes: number): void {
    if (bytes <= this.bytes) return;
    this.take(bytes - this.bytes);
    this.bytes = bytes;
  }

  /** Gives all of it back; again does nothing. */
  release(): void {
    this.take(-this.bytes);
    this.bytes = 0;
  }
}
