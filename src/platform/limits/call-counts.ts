import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Counter, Gauge } from 'prom-client';
import { hash, hkdfSync } from 'node:crypto';
import { Config } from '../config/index.js';
import { Metrics } from '../metrics/index.js';
import { Clock, newId, reasonOf, within } from '../shared/index.js';
import { PrimaryLink } from '../workers/index.js';
import type { Counts, Decision, Release, SharedCounts, Acquisition } from './counts.js';
import { MemoryCounts } from './memory-counts.js';
import { LimitTimings, RedisCounts } from './redis-counts.js';
import { RELEASE_TOPIC, PROBE_TOPIC, ACQUIRE_TOPIC } from './serve-limits.js';

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

const KEY_PREFIX = 'switchboard:limits:';
const PURPOSE = 'switchboard names of limits v1';
/** 128 bits, enough to avoid collisions. */
const NAME_LENGTH = 22;

/**
 * Selects the store of limit counts: Redis if configured, else the primary process, else this process. An unreachable
 * store is replaced by this process's counts, with a warning. Also a ThrottlerStorage, because that of
 * @nestjs/throttler is linear in the requests of a window.
 */
@Injectable()
export class CallCounts implements ThrottlerStorage, OnApplicationShutdown {
  private readonly watch: LoggedOutages;
  private counts: FallbackCounts | LocalCounts;

  constructor(
    private readonly config: Config,
    clock: Clock,
    private readonly timings: LimitTimings,
    primary: PrimaryLink,
    metrics: Metrics,
  ) {
    this.watch = new LoggedOutages(metrics);
    const own = new LocalCounts(new MemoryCounts(clock));
    this.counts = primary.connected ? new FallbackCounts(new PrimaryCounts(primary), own, timings, this.watch) : own;
  }

  /** Called at server start; does not wait for connections. The Redis client (10 MB) is only loaded if needed. */
  async open(): Promise<void> {
    const { config, timings, watch } = this;
    if (config.redisUrl !== undefined) {
      const { RedisLink } = await import('./redis-link.js');
      const redis = new RedisCounts(new RedisLink(config.redisUrl, timings.silenceMs), namesUnder(config), timings);
      this.counts = new FallbackCounts(redis, this.counts, timings, watch);
    }
    this.counts.open();
  }

  acquire(acquisition: Acquisition): Promise<DecisionSource> {
    return this.counts.acquire(acquisition);
  }

  /** Counts one event in a window of `ttl` ms. There is no block duration: a rejected client waits for the window. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const count = { key: `${throttlerName} ${key}`, windowMs: ttl, limit, amount: 1 };
    const { decision } = await this.acquire({ id: newId('req', Date.now()), counts: [count], slots: [] });
    const { used = 0, resetMs = 0 } = decision.statuses[0] ?? {};
    const { refusal } = decision;
    return {
      totalHits: used,
      timeToExpire: Math.ceil(resetMs / 1000),
      isBlocked: refusal !== undefined,
      timeToBlockExpire: refusal === undefined ? 0 : Math.ceil((refusal.waitMs ?? ttl) / 1000),
    };
  }

  /** Unreachable stores by display name, such as `Redis`. */
  get away(): readonly string[] {
    return [...this.watch.away];
  }

  onApplicationShutdown(): Promise<void> {
    return this.counts.close();
  }
}

/**
 * Hashes names for Redis: keys and addresses are not readable there, and services that share a Redis do not collide.
 */
function namesUnder(config: Config): (key: string) => string {
  const secret = Buffer.from(hkdfSync('sha256', config.secretKey.reveal(), '', PURPOSE, 32)).toString('hex');
  return (key) => KEY_PREFIX + hash('sha256', secret + key, 'base64url').slice(0, NAME_LENGTH);
}

/** Logs each outage once and reports it in the metrics while it lasts. */
class LoggedOutages implements OutageWatch {
  readonly away = new Set<string>();
  private readonly logger = new Logger('Limits');
  private readonly degraded: Gauge;
  private readonly outages: Counter;

  constructor(metrics: Metrics) {
    this.degraded = metrics.gauge(
      'rate_limits_degraded',
      'Rate limit stores that cannot be reached. Above 0, limits may be exceeded.',
    );
    this.outages = metrics.counter('rate_limits_degraded_total', 'Times a rate limit store became unreachable.');
  }

  lost(name: string, reason: unknown): void {
    this.away.add(name);
    this.degraded.inc();
    this.outages.inc();
    this.logger.warn(
      `Lost the rate limit store ${name} (${reasonOf(reason)}). Until it is restored, processes count separately and may admit more calls than the limits allow.`,
    );
  }

  back(name: string): void {
    this.away.delete(name);
    this.degraded.dec();
    this.logger.log(`Rate limit store ${name} restored.`);
  }
}

/** Notified when shared counts become unavailable and available again. */
interface OutageWatch {
  lost(name: string, reason: unknown): void;
  back(name: string): void;
}

/** A decision and the store that made it, which alone can release it. */
export interface DecisionSource {
  readonly decision: Decision;
  readonly by: Counts;
}

/**
 * Shared counts with a local fallback. After the first timeout or error all calls use the fallback without waiting,
 * while the shared store is probed in the background.
 */
export class FallbackCounts {
  private state: 'closed' | 'opening' | 'up' | 'down' = 'closed';
  private opening: Promise<void> | undefined;
  private probing: NodeJS.Timeout | undefined;

  constructor(
    private readonly shared: SharedCounts,
    private readonly instead: FallbackCounts | LocalCounts,
    private readonly timings: LimitTimings,
    private readonly watch: OutageWatch,
  ) {
    shared.onLost = (reason) => this.fall(reason);
  }

  /** Connects in the background; the first calls wait briefly. */
  open(): void {
    this.instead.open();
    this.state = 'opening';
    this.opening = this.inTime(this.shared.open()).then(
      () => this.rise(),
      (error: unknown) => this.fall(error),
    );
  }

  async acquire(acquisition: Acquisition): Promise<DecisionSource> {
    if (this.state === 'opening') await this.opening;
    if (this.state !== 'up') return this.instead.acquire(acquisition);
    const pending = this.shared.acquire(acquisition);
    try {
      return { decision: await this.inTime(pending), by: this.shared };
    } catch (error) {
      // Granted after the timeout: return it.
      pending.then((decision) => this.releaseLate(acquisition, decision)).catch(() => undefined);
      this.fall(error);
      return this.instead.acquire(acquisition);
    }
  }

  async close(): Promise<void> {
    this.state = 'closed';
    clearInterval(this.probing);
    await Promise.all([this.shared.close(), this.instead.close()]);
  }

  private fall(reason: unknown): void {
    if (this.state === 'closed' || this.state === 'down') return;
    this.state = 'down';
    this.watch.lost(this.shared.name, reason);
    this.probing = setInterval(() => void this.probe(), this.timings.probeMs).unref();
  }

  private async probe(): Promise<void> {
    const answered = this.inTime(this.shared.probe());
    await answered.then(
      () => this.rise(),
      () => undefined,
    );
  }

  private rise(): void {
    if (this.state === 'closed' || this.state === 'up') return;
    clearInterval(this.probing);
    if (this.state === 'down') this.watch.back(this.shared.name);
    this.state = 'up';
  }

  private releaseLate({ id, counts, slots }: Acquisition, { refusal, statuses }: Decision): void {
    if (refusal !== undefined) return;
    const corrections = counts.map(({ key, windowMs, amount }, index) => {
      return { key, windowMs, amount: -amount, window: statuses[index]?.window ?? 0 };
    });
    this.shared.release({ id, slots: slots.map(({ key }) => key), corrections } satisfies Release);
  }

  /** @throws when it takes too long */
  private async inTime<Result>(pending: Promise<Result>): Promise<Result> {
    const { patienceMs } = this.timings;
    const response = await within(
      pending.then((result) => ({ result })),
      patienceMs,
    );
    if (response === undefined) throw new Error(`no response within ${patienceMs} ms`);
    return response.result;
  }
}

/** The counts of this process. */
export class LocalCounts {
  constructor(private readonly counts: Counts) {}

  open(): void {}

  async acquire(acquisition: Acquisition): Promise<DecisionSource> {
    return { decision: await this.counts.acquire(acquisition), by: this.counts };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Counts kept by the primary for all its workers (`serveLimits`). */
export class PrimaryCounts implements SharedCounts {
  readonly name = 'the primary process';
  onLost: ((reason: unknown) => void) | undefined;

  constructor(private readonly link: PrimaryLink) {}

  open(): Promise<void> {
    return this.probe();
  }

  async probe(): Promise<void> {
    await this.link.ask(PROBE_TOPIC, undefined);
  }

  acquire(acquisition: Acquisition): Promise<Decision> {
    return this.link.ask(ACQUIRE_TOPIC, acquisition) as Promise<Decision>;
  }

  release(back: Release): void {
    this.link.ask(RELEASE_TOPIC, back).catch(() => undefined);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
