import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Metrics } from '../platform/metrics/index.js';
import { monotonicMs, networkOf } from '../platform/shared/index.js';

/**
 * How fast strangers are refused: whoever shows no key that we issued. A refusal takes about a third of what a call does
 * of the process's single thread, so at this rate strangers cost the calls of everybody else some 3 %, and 7 % on a machine that takes six times as long.
 */
@Injectable()
export class InvalidKeyLimits {
  /** Refusals a second, of all strangers together. */
  readonly perSecond: number = 300;
  /** So many wait for theirs, of one network: when only they wait, for 4 s at most. */
  readonly waitingOfNetwork: number = 1024;
  /** So many in all, for 14 s at most. With its connection each takes some 40 kB. */
  readonly waiting: number = 4096;
}

/** How often those who wait are looked after. */
const TICK_MS = 50;
/** Turns that nobody took are kept for so long: a few mistakes at once are told at once. */
const SAVED_MS = 100;

interface Waiting {
  readonly gone: () => boolean;
  readonly leave: () => void;
}

/**
 * Where strangers wait to be told that their key is none. Clients wait for an answer before they ask again, so a late
 * refusal slows down whoever tries keys, and costs nothing. Networks take turns: a crowd from one of them keeps others
 * waiting no longer than a single stranger would. There is no rate of a network's own: it may have all that others leave.
 */
@Injectable()
export class InvalidKeyThrottle implements OnModuleDestroy {
  /** Who waits, by network. The network whose turn is next comes first. */
  private readonly lines = new Map<string, Waiting[]>();
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
   * Resolves with true when it is this stranger's turn to be refused, with false at once when too many wait already.
   * @param gone whether the stranger has left: then nobody waits for that turn
   */
  async turn(address: string, gone: () => boolean): Promise<boolean> {
    const told = await this.inLine(address, gone);
    this.refusals.inc({ told: told ? 'invalid_token' : 'rate_limit_exceeded' });
    return told;
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

  /** Nobody is kept waiting by a process that stops. */
  onModuleDestroy(): void {
    this.closed = true;
    this.serve();
  }

  private serve(): void {
    this.count();
    // A network that is put back is visited again, behind all others: the loop goes round until turns or strangers end.
    for (const [network, line] of this.lines) {
      if (this.turns < 1) return;
      this.lines.delete(network);
      const stranger = line.shift();
      if (line.length > 0) this.lines.set(network, line);
      this.waiting -= 1;
      if (stranger?.gone() === false) this.turns -= 1;
      stranger?.leave();
    }
    clearInterval(this.ticking);
    this.ticking = undefined;
  }

  private takeTurn(): boolean {
    if (this.turns < 1) return false;
    this.turns -= 1;
    return true;
  }

  /** Adds the turns that have come up since they were last counted. */
  private count(): void {
    const { perSecond } = this.limits;
    const now = monotonicMs();
    const most = Math.max(1, (perSecond * SAVED_MS) / 1000);
    this.turns = this.closed ? Infinity : Math.min(most, this.turns + ((now - this.countedMs) * perSecond) / 1000);
    this.countedMs = now;
  }
}
