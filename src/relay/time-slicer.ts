import { Injectable } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from '../platform/shared/index.js';

/** Max work per event loop turn, for all calls together. */
const TURN_MS = 2;

/**
 * Processes large bodies in slices, a few milliseconds per event loop turn and first come, first served, so that
 * running streams are never delayed by more than that.
 */
@Injectable()
export class TimeSlicer {
  private waiting: (() => void)[] = [];
  private scheduled = false;

  /** Queues a slice, which must take well below a millisecond and not throw. */
  take(slice: () => void): void {
    // Runs in the async context of its own call.
    this.waiting.push(AsyncLocalStorage.bind(slice));
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.run());
  }

  private run(): void {
    this.scheduled = false;
    const untilMs = monotonicMs() + TURN_MS;
    let done = 0;
    // Slices added meanwhile wait for the next turn.
    try {
      while (done < this.waiting.length && (done === 0 || monotonicMs() < untilMs)) this.waiting[done++]?.();
    } finally {
      // A slice that throws anyway neither runs again nor blocks others.
      this.waiting = this.waiting.slice(done);
      if (this.waiting.length > 0) this.schedule();
    }
  }
}
