import { Injectable } from '@nestjs/common';
import type { ConcurrencySlot, RateLimit, Decision, Release, SharedCounts, Acquisition } from './counts.js';
import type { RedisLink } from './redis-link.js';
import { RELEASE, PROBE, RENEW, ACQUIRE } from './redis-scripts.js';

/** Slots renewed per script call: a script blocks all other Redis clients. */
const RENEWED_AT_ONCE = 500;
/** Numbers that the script returns per count. */
const NUMBERS_PER_COUNT = 3;

/**
 * Counts shared through Redis. One script decides each acquisition, by the server's clock. Slots are leases that their
 * process renews, so that those of a killed process expire.
 */
export class RedisCounts implements SharedCounts {
  readonly name = 'Redis';
  /** Slots of this process, by ID of the acquisition. */
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

  async acquire({ id, counts, slots }: Acquisition): Promise<Decision> {
    const limits = counts.flatMap(({ windowMs, limit, amount }) => [windowMs, limit, amount]);
    const args = [id, this.timings.leaseMs, counts.length, ...limits, ...slots.map(({ limit }) => limit)];
    const reply = (await this.link.run(ACQUIRE, this.keysOf(counts, slots), args)) as readonly number[];
    const decision = decisionOf(reply, counts.length);
    if (decision.refusal === undefined && slots.length > 0) this.leases.set(id, this.keysOf([], slots));
    return decision;
  }

  release({ id, slots, corrections }: Release): void {
    this.leases.delete(id);
    if (slots.length === 0 && corrections.length === 0) return;
    const keys = [...corrections.map(({ key }) => key), ...slots].map(this.keyOf);
    const args = corrections.flatMap(({ windowMs, window, amount }) => [windowMs, window, amount]);
    // Without a connection the lease expires.
    this.link.run(RELEASE, keys, [id, corrections.length, ...args]).catch(() => undefined);
  }

  async close(): Promise<void> {
    clearInterval(this.renewing);
    await this.link.close(this.timings.patienceMs);
  }

  private async renew(): Promise<void> {
    const held = Array.from(this.leases, ([id, keys]) => keys.map((key) => ({ id, key }))).flat();
    for (let start = 0; start < held.length; start += RENEWED_AT_ONCE) {
      // Slots that were returned meanwhile are not renewed.
      const batch = held.slice(start, start + RENEWED_AT_ONCE).filter(({ id }) => this.leases.has(id));
      const keys = batch.map(({ key }) => key);
      const ids = batch.map(({ id }) => id);
      if (batch.length > 0) await this.link.run(RENEW, keys, [this.timings.leaseMs, ...ids]);
    }
  }

  private keysOf(counts: readonly RateLimit[], slots: readonly ConcurrencySlot[]): string[] {
    return [...counts, ...slots].map(({ key }) => this.keyOf(key));
  }
}

function decisionOf([which = 0, waitMs = 0, ...numbers]: readonly number[], counts: number): Decision {
  const statuses = Array.from({ length: counts }, (_, index) => {
    const [used = 0, resetMs = 0, window = 0] = numbers.slice(index * NUMBERS_PER_COUNT);
    return { used, resetMs, window };
  });
  if (which === 0) return { refusal: undefined, statuses };
  return { refusal: { which: which - 1, waitMs: waitMs < 0 ? undefined : waitMs }, statuses };
}

/** Timings of shared counts, in milliseconds. Tests override them. */
@Injectable()
export class LimitTimings {
  /** Timeout of a decision. After it, this process decides alone until the store responds again. */
  readonly patienceMs: number = 250;
  /** Interval between health checks of an unreachable store. */
  readonly probeMs: number = 500;
  /** Lease of a process's slots; after it, those of a killed process are free. */
  readonly leaseMs: number = 30_000;
  /** Interval between renewals of leases. */
  readonly renewMs: number = 10_000;
  /** Reconnect after this time without a response. */
  readonly silenceMs: number = 5000;
}
