import { Injectable } from '@nestjs/common';
import { within } from '../shared/index.js';

/** Whether this process still takes calls, and how many it is answering. */
@Injectable()
export class RunState {
  private readonly running = new Set<Promise<unknown>>();
  private isDraining = false;

  get draining(): boolean {
    return this.isDraining;
  }

  /** Counts a call as running until it has ended, however it ends. */
  track<Result>(call: Promise<Result>): Promise<Result> {
    const counted = call.catch(() => undefined).finally(() => this.running.delete(counted));
    this.running.add(counted);
    return call;
  }

  /** From now on not ready. Resolves when no call is running, or when the grace is over. */
  async drain(graceMs: number): Promise<void> {
    this.isDraining = true;
    await within(Promise.all(this.running), graceMs);
  }
}
