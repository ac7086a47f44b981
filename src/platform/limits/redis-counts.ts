import { Injectable } from '@nestjs/common';
import type { ConcurrencySlot, RateLimit, Decision, Return, SharedCounts, Taking } from './counts.js';
import type { RedisLink } from './redis-link.js';
import { GIVE_BACK, PROBE, RENEW, TAKE } from './redis-scripts.js';

/** Places renewed per script call: a script blocks all other Redis clients. */
const RENEWED_AT_ONCE = 500;
/** Numbers that the script returns per count. */
const NUMBERS_PER_COUNT = 3;

/**
 * Counts shared through Redis. One script decides each taking, by the server's clock. Places are leases that their
 * process renews, so that those of a killed process expire.
 */
export class RedisCounts implements SharedCounts {
  readonly name = 'Redis';
  /** Places of this process, by ID of the taking. */
  private readonly leases = new Map<string, readonly string[]>();
  private renewing: NodeJS.Timeout | undefined;

  /** @param keyOf hashes names, so that subjects are not readable in Redis */
  constructor(
    private readonly link: RedisLink,
    private readonly keyOf: (key: string) => string,
    private readonly timings: LimitTimings,
  ) {}

  get onLost(): ((reason: unknown) => void) | undefined {
    return this.link.onLost;
  }

  set onLost(listener: ((reason: unknown) => void) | undefined) {
    this.link.onLost = listener;
  }

  async open(): Promise<void> {
    this.renewing ??= setInterval(() => void this.renew().catch(() => undefined), this.timings.renewMs).unref();
    await this.link.open();
    await this.probe();
  }

  async probe(): Promise<void> {
    await this.link.load();
    await this.link.run(PROBE, [this.keyOf('probe')], []);
    // Restores running calls if the server lost its data.
    await this.renew();
  }

  async take({ id, counts, places }: Taking): Promise<Decision> {
    const limits = counts.flatMap(({ windowMs, limit, amount }) => [windowMs, limit, amount]);
    const args = [id, this.timings.leaseMs, counts.length, ...limits, ...places.map(({ limit }) => limit)];
    const reply = (await this.link.run(TAKE, this.keysOf(counts, places), args)) as readonly number[];
    const decision = decisionOf(reply, counts.length);
    if (decision.refusal === undefined && places.length > 0) this.leases.set(id, this.keysOf([], places));
    return decision;
  }

  giveBack({ id, places, corrections }: Return): void {
    this.leases.delete(id);
    if (places.length === 0 && corrections.length === 0) return;
    const keys = [...corrections.map(({ key }) => key), ...places].map(this.keyOf);
    const args = corrections.flatMap(({ windowMs, window, amount }) => [windowMs, window, amount]);
    // Without a connection the lease expires.
    this.link.run(GIVE_BACK, keys, [id, corrections.length, ...args]).catch(() => undefined);
  }

  async close(): Promise<void> {
    clearInterval(this.renewing);
    await this.link.close(this.timings.patienceMs);
  }

  private async renew(): Promise<void> {
    const held = Array.from(this.leases, ([id, keys]) => keys.map((key) => ({ id, key }))).flat();
    for (let start = 0; start < held.length; start += RENEWED_AT_ONCE) {
      // Places that were returned meanwhile are not renewed.
      const batch = held.slice(start, start + RENEWED_AT_ONCE).filter(({ id }) => this.leases.has(id));
      const keys = batch.map(({ key }) => key);
      const ids = batch.map(({ id }) => id);
      if (batch.length > 0) await this.link.run(RENEW, keys, [this.timings.leaseMs, ...ids]);
    }
  }

  private keysOf(counts: readonly RateLimit[], places: readonly ConcurrencySlot[]): string[] {
    return [...counts, ...places].map(({ key }) => this.keyOf(key));
  }
}

function decisionOf([which = 0, waitMs = 0, ...numbers]: readonly number[], counts: number): Decision {
  const standings = Array.from({ length: counts }, (_, index) => {
    const [used = 0, resetMs = 0, window = 0] = numbers.slice(index * NUMBERS_PER_COUNT);
    return { used, resetMs, window };
  });
  if (which === 0) return { refusal: undefined, standings };
  return { refusal: { which: which - 1, waitMs: waitMs < 0 ? undefined : waitMs }, standings };
}

/** Timings of shared counts, in milliseconds. Tests override them. */
@Injectable()
export class LimitTimings {
  /** Timeout of a decision. After it, this process decides alone until the store responds again. */
  readonly patienceMs: number = 250;
  /** Interval between health checks of an unreachable store. */
  readonly probeMs: number = 500;
  /** Lease of a process's places; after it, those of a killed process are free. */
  readonly leaseMs: number = 30_000;
  /** Interval between renewals of leases. */
  readonly renewMs: number = 10_000;
  /** Reconnect after this time without a response. */
  readonly silenceMs: number = 5000;
}
