import { Clock } from '../../src/platform/shared/index.js';

/** A clock that goes only when it is told to. */
export class HeldClock extends Clock {
  private ms = Date.parse('2026-11-20T12:00:00Z');

  override now(): number {
    return this.ms;
  }

  pass(seconds: number): void {
    this.ms += seconds * 1000;
  }
}
