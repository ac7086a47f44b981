import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Metrics } from '../platform/metrics/index.js';
import { monotonicMs, networkOf } from '../platform/shared/index.js';

/**
 * Rate of responses to invalid keys. One costs about a third of a call's CPU, so at this rate they slow valid calls by
 * about 3 % (7 % on a machine that is six times slower).
 */
@Injectable()
export class InvalidKeyLimits {
  /** Responses per second, in total. */
  readonly perSecond: number = 300;
  /** Max queued requests per network: 4 s if only one network queues. */
  readonly waitingOfNetwork: number = 1024;
  /** Max queued requests in total: 14 s. Each takes about 40 kB with its connection. */
  readonly waiting: number = 4096;
}

/** Interval at which the queue is served. */
const TICK_MS = 50;
/** Unused capacity is kept this long, so that a few mistakes at once get immediate responses. */
const SAVED_MS = 100;

interface DelayedResponse {
  readonly gone: () => boolean;
  readonly leave: () => void;
}

/**
 * Queue of requests with invalid keys. Clients wait for a response before they retry, so delaying it slows down
 * guessing at no cost. Networks are served round-robin, so that one of them cannot delay others longer than a single
 * client would; a network may use all unused capacity.
 */
@Injectable()
export class InvalidKeyThrottle implements OnModuleDestroy {
  /** Queued requests by network, the next network first. */
  private readonly lines = new Map<string, DelayedResponse[]>();
  private waiting = 0;
  private turns = 0;
  private countedMs = -Infinity;
  private ticking: NodeJS.Timeout | undefined;
  private closed = false;
  private readonly refusals;

  constructor(
    private readonly limits: InvalidKeyLimits,
    metrics: Metrics,
  ) {
    this.refusals = metrics.counter('strangers_total', 'Requests with invalid API keys, by response.', ['told']);
    const waiting = 'Requests with invalid API keys waiting for their rejection.';
    metrics.gauge('strangers_waiting', waiting, [], (gauge) => gauge.set(this.waiting));
  }

  /**
   * Resolves with true when the request may be rejected as unauthorized, immediately with false when the queue is full.
   * @param gone whether the client has left: its turn is skipped
   */
  async turn(address: string, gone: () => boolean): Promise<boolean> {
    const isRefused = await this.inLine(address, gone);
    this.refusals.inc({ told: isRefused ? 'invalid_token' : 'rate_limit_exceeded' });
    return isRefused;
  }

  private inLine(address: string, gone: () => boolean): Promise<boolean> {
    this.count();
    if (this.waiting === 0 && this.takeTurn()) return Promise.resolve(true);
    const network = networkOf(address);
    const line = this.lines.get(network) ?? [];
    if (this.waiting >= this.limits.waiting || line.length >= this.limits.waitingOfNetwork)
      return Promise.resolve(false);
    return new Promise((resolve) => {
      line.push({ gone, leave: () => resolve(true) });
      this.lines.set(network, line);
      this.waiting += 1;
      this.ticking ??= setInterval(() => this.serve(), TICK_MS).unref();
    });
  }

  /** Releases all requests at shutdown. */
  onModuleDestroy(): void {
    this.closed = true;
    this.serve();
  }

  private serve(): void {
    this.count();
    // A network that is reinserted is visited again after all others: the loop ends when capacity or requests run out.
    for (const [network, line] of this.lines) {
      if (this.turns < 1) return;
      this.lines.delete(network);
      const waiter = line.shift();
      if (line.length > 0) this.lines.set(network, line);
      this.waiting -= 1;
      if (waiter?.gone() === false) this.turns -= 1;
      waiter?.leave();
    }
    clearInterval(this.ticking);
    this.ticking = undefined;
  }

  private takeTurn(): boolean {
    if (this.turns < 1) return false;
    this.turns -= 1;
    return true;
  }

  /** Adds the capacity accrued since the last call. */
  private count(): void {
    const { perSecond } = this.limits;
    const now = monotonicMs();
    const max = Math.max(1, (perSecond * SAVED_MS) / 1000);
    this.turns = this.closed ? Infinity : Math.min(max, this.turns + ((now - this.countedMs) * perSecond) / 1000);
    this.countedMs = now;
  }
}
