import type { Flow } from '../protocols/contract/index.js';
import { monotonicMs } from '../platform/shared/index.js';

/** How often a limit that has come looks whether its answer is still held back. */
const LOOK_AGAIN_MS = 100;

/** A limit of an upstream's time. It stands still while the upstream is not read from: that is not its fault. */
export class PausableTimeout {
  private readonly endMs: number;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly flow: Flow,
    limitMs: number,
    private readonly onOver: () => void,
  ) {
    this.endMs = monotonicMs() + limitMs - flow.pausedMs;
    this.timer = setTimeout(() => this.look(), limitMs);
  }

  /** It does not matter any more. */
  end(): void {
    clearTimeout(this.timer);
  }

  private look(): void {
    const leftMs = this.endMs + this.flow.pausedMs - monotonicMs();
    // Timers may come a fraction of a millisecond early.
    if (leftMs < 1 && !this.flow.paused) return this.onOver();
    this.timer = setTimeout(() => this.look(), this.flow.paused ? Math.max(leftMs, LOOK_AGAIN_MS) : leftMs);
  }
}
