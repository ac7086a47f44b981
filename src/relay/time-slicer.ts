import { Injectable } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from '../platform/shared/index.js';

/** So long the work of a turn may take, all calls together, before everything else has its turn. */
const TURN_MS = 2;

/**
 * Work on large bodies takes turns: in slices, first come first served, a few milliseconds of them in each round of the
 * event loop. Streams that run meanwhile are not held up by more than that, however many bodies come at once.
 */
@Injectable()
export class TimeSlicer {
  private waiting: (() => void)[] = [];
  private scheduled = false;

  /** Does a slice of work, of well below a millisecond, when its turn has come. It must not throw. */
  take(slice: () => void): void {
    // In the course of its own call, whoever's turn it is.
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
    // What a slice adds stands behind those that waited already.
    try {
      while (done < this.waiting.length && (done === 0 || monotonicMs() < untilMs)) this.waiting[done++]?.();
    } finally {
      // A slice that throws all the same does not run again, and keeps no other from running.
      this.waiting = this.waiting.slice(done);
      if (this.waiting.length > 0) this.schedule();
    }
  }
}
