import { Injectable, Module } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics, MetricsModule } from '../metrics/index.js';
import { Clock } from '../shared/index.js';
import { WorkersModule } from '../workers/index.js';
import { CallCounts } from './call-counts.js';
import type { ConcurrencySlot, Correction, RateLimit, Counts, Decision, Refusal, Taking } from './counts.js';
import type { Demand, LimitKind, LimitSubject } from './limits.js';
import { MemoryCounts } from './memory-counts.js';
import { type ExceededLimit, type LimitStatus, type LimitStatuses, RateLimited } from './rate-limited.js';
import { LimitTimings } from './redis-counts.js';

/** Permission to run a call. End it exactly once; places are held until then. */
export class Permit {
  private ended = false;

  constructor(
    readonly standings: LimitStatuses,
    private readonly demanded: LimitCheck,
    private readonly decision: Decision,
    private readonly by: Counts,
  ) {}

  /**
   * Idempotent.
   * @param usedTokens of prompt and response
   */
  end(usedTokens: number): void {
    if (this.ended) return;
    this.ended = true;
    const { id, places } = this.demanded.taking;
    const corrections = this.demanded.corrections(usedTokens, this.decision);
    if (places.length === 0 && corrections.length === 0) return;
    this.by.giveBack({ id, places: places.map(({ key }) => key), corrections });
  }
}

/** Decides whether all limits that apply to a call allow it. */
@Injectable()
export class RateLimiter {
  private readonly refusals: Counter<'subject' | 'limit'>;

  constructor(
    private readonly counts: CallCounts,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.refusals = metrics.counter('rate_limit_refusals_total', 'Calls rejected by rate limits.', [
      'subject',
      'limit',
    ]);
  }

  /** The limit that a call exceeds by itself, regardless of other calls; undefined if none. Counts nothing. */
  refusalOfAlone(demand: Demand): RateLimited | undefined {
    const demanded = new LimitCheck(demand);
    const decision = new MemoryCounts(this.clock).decide(demanded.taking);
    if (!isRefused(decision)) return undefined;
    const standings = demanded.standings(decision, this.clock.now());
    return new RateLimited(demanded.exceeded(decision), decision.refusal.waitMs, standings);
  }

  /** Takes everything the call needs, or nothing. @throws RateLimited, but never because a store is unavailable */
  async take(demand: Demand): Promise<Permit> {
    const demanded = new LimitCheck(demand);
    const { decision, by } = await this.counts.take(demanded.taking);
    const standings = demanded.standings(decision, this.clock.now());
    if (isRefused(decision)) {
      const exceeded = demanded.exceeded(decision);
      this.refusals.inc({ subject: exceeded.subject.kind, limit: exceeded.limit });
      throw new RateLimited(exceeded, decision.refusal.waitMs, standings);
    }
    return new Permit(standings, demanded, decision, by);
  }
}

const isRefused = (decision: Decision): decision is Decision & { readonly refusal: Refusal } =>
  decision.refusal !== undefined;

const MINUTE_MS = 60_000;

interface LimitedDemand {
  readonly subject: LimitSubject;
  readonly limit: LimitKind;
  readonly allowed: number;
}

interface CountDemand extends LimitedDemand {
  readonly count: RateLimit;
}

interface PlaceDemand extends LimitedDemand {
  readonly place: ConcurrencySlot;
}

/** Translates a call's demand into counts to take, and the decision back into limits. */
class LimitCheck {
  readonly taking: Taking;
  private readonly counts: readonly CountDemand[];
  private readonly places: readonly PlaceDemand[];

  constructor({ id, subjects, tokens, runs }: Demand) {
    this.counts = subjects.flatMap((subject) => [
      ...countOf(subject, 'requests', subject.limits.requestsPerMinute, 1),
      ...countOf(subject, 'tokens', runs ? subject.limits.tokensPerMinute : undefined, tokens),
    ]);
    this.places = runs ? subjects.flatMap(placeOf) : [];
    this.taking = {
      id,
      counts: this.counts.map(({ count }) => count),
      places: this.places.map(({ place }) => place),
    };
  }

  /** The limit that rejected the call. */
  exceeded({ refusal, standings }: Decision & { readonly refusal: Refusal }): ExceededLimit {
    const { which } = refusal;
    const exceeded = this.counts[which] ?? this.places[which - this.counts.length];
    if (exceeded === undefined) throw new TypeError(`Limit ${which} was exceeded but not requested.`);
    const { subject, limit, allowed } = exceeded;
    return {
      subject,
      limit,
      allowed,
      used: standings[which]?.used ?? 0,
      needed: this.counts[which]?.count.amount ?? 1,
    };
  }

  /** The tightest limit of each kind, by what remains. */
  standings({ standings }: Decision, nowMs: number): LimitStatuses {
    const found: { requests?: LimitStatus; tokens?: LimitStatus } = {};
    this.counts.forEach(({ limit, allowed }, index) => {
      const standing = standings[index];
      if (limit === 'concurrency' || standing === undefined) return;
      const { used, resetMs } = standing;
      const remaining = Math.max(0, allowed - used);
      const tightest = found[limit];
      if (tightest !== undefined && tightest.remaining <= remaining) return;
      found[limit] = { limit: allowed, remaining, resetMs, resetsAt: nowMs + resetMs };
    });
    return found;
  }

  /** Corrections of token counts for the actual usage. */
  corrections(usedTokens: number, { standings }: Decision): readonly Correction[] {
    return this.counts.flatMap(({ limit, count: { key, windowMs, amount } }, index) => {
      if (limit !== 'tokens' || usedTokens === amount) return [];
      return [{ key, windowMs, amount: usedTokens - amount, window: standings[index]?.window ?? 0 }];
    });
  }
}

function countOf(
  subject: LimitSubject,
  limit: 'requests' | 'tokens',
  allowed: number | undefined,
  amount: number,
): CountDemand[] {
  if (allowed === undefined) return [];
  const count = { key: keyOf(subject, limit), windowMs: MINUTE_MS, limit: allowed, amount };
  return [{ subject, limit, allowed, count }];
}

function placeOf(subject: LimitSubject): PlaceDemand[] {
  const { concurrency } = subject.limits;
  if (concurrency === undefined) return [];
  const place = { key: keyOf(subject, 'concurrency'), limit: concurrency };
  return [{ subject, limit: 'concurrency', allowed: concurrency, place }];
}

const keyOf = ({ kind, id }: LimitSubject, limit: LimitKind): string => `${limit} of ${kind} ${id}`;

@Module({
  imports: [MetricsModule, WorkersModule],
  providers: [CallCounts, LimitTimings, RateLimiter],
  exports: [CallCounts, RateLimiter],
})
export class LimitsModule {}
