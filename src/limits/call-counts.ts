import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { hash, hkdfSync } from 'node:crypto';
import type { Counter, Gauge } from 'prom-client';
import { Config } from '../config/index.js';
import { Metrics } from '../metrics/index.js';
import { Clock, newId, reasonOf } from '../shared/index.js';
import { PrimaryLink } from '../workers/index.js';
import type { Taking } from './counts.js';
import { type Decided, FallbackCounts, OwnCounts, type OutageWatch } from './fallback-counts.js';
import { LimitTimings } from './limit-timings.js';
import { MemoryCounts } from './memory-counts.js';
import { PrimaryCounts } from './primary-counts.js';
import { RedisCounts } from './redis-counts.js';
import { RedisLink } from './redis-link.js';

type ThrottlerRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

const KEY_PREFIX = 'switchboard:limits:';
const PURPOSE = 'switchboard names of limits v1';
/** 128 bits: no two will ever be the same. */
const NAME_LENGTH = 22;

/**
 * Where this process counts: in Redis where there is one, else in the primary that has started it, else in itself. What is
 * away is done without, with a warning. Behind the interface of @nestjs/throttler as well, whose own storage looks at
 * every request of the window for each new one, and fails at some 100,000.
 */
@Injectable()
export class CallCounts implements ThrottlerStorage, OnApplicationShutdown {
  private readonly counts: FallbackCounts | OwnCounts;

  constructor(config: Config, clock: Clock, timings: LimitTimings, primary: PrimaryLink, metrics: Metrics) {
    const watch = new LoggedOutages(metrics);
    let counts: FallbackCounts | OwnCounts = new OwnCounts(new MemoryCounts(clock));
    if (primary.connected) counts = new FallbackCounts(new PrimaryCounts(primary), counts, timings, watch);
    if (config.redisUrl !== undefined) {
      const link = new RedisLink(config.redisUrl, timings.silenceMs);
      counts = new FallbackCounts(new RedisCounts(link, namesUnder(config), timings), counts, timings, watch);
    }
    this.counts = counts;
  }

  /** For the server, which does not wait for it. Whoever makes no calls connects to nothing. */
  open(): void {
    this.counts.open();
  }

  take(taking: Taking): Promise<Decided> {
    return this.counts.take(taking);
  }

  /** One more of so many in `ttl` ms. There are no blocks: who is refused has to wait until there is room. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const count = { key: `${throttlerName} ${key}`, windowMs: ttl, limit, amount: 1 };
    const { decision } = await this.take({ id: newId('req', Date.now()), counts: [count], places: [] });
    const { used = 0, resetMs = 0 } = decision.standings[0] ?? {};
    const { refusal } = decision;
    return {
      totalHits: used,
      timeToExpire: Math.ceil(resetMs / 1000),
      isBlocked: refusal !== undefined,
      timeToBlockExpire: refusal === undefined ? 0 : Math.ceil((refusal.waitMs ?? ttl) / 1000),
    };
  }

  onApplicationShutdown(): Promise<void> {
    return this.counts.close();
  }
}

/** What things are called in Redis: neither keys nor addresses can be guessed from it, and no two services collide. */
function namesUnder(config: Config): (key: string) => string {
  const secret = Buffer.from(hkdfSync('sha256', config.secretKey.reveal(), '', PURPOSE, 32)).toString('hex');
  return (key) => KEY_PREFIX + hash('sha256', secret + key, 'base64url').slice(0, NAME_LENGTH);
}

/** Tells operators of outages: once each, and in the metrics as long as one lasts. */
class LoggedOutages implements OutageWatch {
  private readonly logger = new Logger('Limits');
  private readonly degraded: Gauge;
  private readonly outages: Counter;

  constructor(metrics: Metrics) {
    this.degraded = metrics.gauge(
      'rate_limits_degraded',
      'How many of the places where processes count together are away; 0 when rate limits are exact.',
    );
    this.outages = metrics.counter('rate_limits_degraded_total', 'How often such a place was lost.');
  }

  lost(name: string, reason: unknown): void {
    this.degraded.inc();
    this.outages.inc();
    this.logger.warn(
      `Rate limits are not counted by ${name} any more (${reasonOf(reason)}): until it is back, fewer processes count together.`,
    );
  }

  back(name: string): void {
    this.degraded.dec();
    this.logger.log(`Rate limits are counted by ${name} again.`);
  }
}
