import { Injectable, Module } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics, MetricsModule } from '../metrics/index.js';
import { Clock } from '../shared/index.js';
import { WorkersModule } from '../workers/index.js';
import { CallCounts } from './call-counts.js';
import type { ConcurrencySlot, Correction, RateLimit, Counts, Decision, Refusal, Acquisition } from './counts.js';
import type { Demand, LimitKind, LimitSubject } from './limits.js';
import { MemoryCounts } from './memory-counts.js';
import { type ExceededLimit, type LimitStatus, type LimitStatuses, RateLimited } from './rate-limited.js';
import { LimitTimings } from './redis-counts.js';

/** Permission to run a call. End it exactly once; slots are held until then. */
export class Permit {
  private ended = false;

  constructor(
    readonly statuses: LimitStatuses,
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
    const { id, slots } = this.demanded.acquisition;
    const corrections = this.demanded.corrections(usedTokens, this.decision);
    if (slots.length === 0 && corrections.length === 0) return;
    this.by.release({ id, slots: slots.map(({ key }) => key), corrections });
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
    const decision = new MemoryCounts(this.clock).decide(demanded.acquisition);
    if (!isRefused(decision)) return undefined;
    const statuses = demanded.statuses(decision, this.clock.now());
    return new RateLimited(demanded.exceeded(decision), decision.refusal.waitMs, statuses);
  }

  /** Takes everything the call needs, or nothing. @throws RateLimited, but never because a store is unavailable */
  async acquire(demand: Demand): Promise<Permit> {
    const demanded = new LimitCheck(demand);
    const { decision, by } = await this.counts.acquire(demanded.acquisition);
    const statuses = demanded.statuses(decision, this.clock.now());
    if (isRefused(decision)) {
      const exceeded = demanded.exceeded(decision);
      this.refusals.inc({ subject: exceeded.subject.kind, limit: exceeded.limit });
      throw new RateLimited(exceeded, decision.refusal.waitMs, statuses);
    }
    return new Permit(statuses, demanded, decision, by);
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

interface SlotDemand extends LimitedDemand {
  readonly slot: ConcurrencySlot;
}

/** Translates a call's demand into counts to acquire, and the decision back into limits. */
class LimitCheck {
  readonly acquisition: Acquisition;
  private readonly counts: readonly CountDemand[];
  private readonly slots: readonly SlotDemand[];

  constructor({ id, subjects, tokens, runs }: Demand) {
    this.counts = subjects.flatMap((subject) => [
      ...countOf(subject, 'requests', subject.limits.requestsPerMinute, 1),
      ...countOf(subject, 'tokens', runs ? subject.limits.tokensPerMinute : undefined, tokens),
    ]);
    this.slots = runs ? subjects.flatMap(slotOf) : [];
    this.acquisition = {
      id,
      counts: this.counts.map(({ count }) => count),
      slots: this.slots.map(({ slot }) => slot),
    };
  }

  /** The limit that rejected the call. */
  exceeded({ refusal, statuses }: Decision & { readonly refusal: Refusal }): ExceededLimit {
    const { which } = refusal;
    const exceeded = this.counts[which] ?? this.slots[which - this.counts.length];
    if (exceeded === undefined) throw new TypeError(`Limit ${which} was exceeded but not requested.`);
    const { subject, limit, allowed } = exceeded;
    return {
      subject,
      limit,
      allowed,
      used: statuses[which]?.used ?? 0,
      needed: this.counts[which]?.count.amount ?? 1,
    };
  }

  /** The tightest limit of each kind, by what remains. */
  statuses({ statuses }: Decision, nowMs: number): LimitStatuses {
    const found: { requests?: LimitStatus; tokens?: LimitStatus } = {};
    this.counts.forEach(({ limit, allowed }, index) => {
      const status = statuses[index];
      if (limit === 'concurrency' || status === undefined) return;
      const { used, resetMs } = status;
      const remaining = Math.max(0, allowed - used);
      const tightest = found[limit];
      if (tightest !== undefined && tightest.remaining <= remaining) return;
      found[limit] = { limit: allowed, remaining, resetMs, resetsAt: nowMs + resetMs };
    });
    return found;
  }

  /** Corrections of token counts for the actual usage. */
  corrections(usedTokens: number, { statuses }: Decision): readonly Correction[] {
    return this.counts.flatMap(({ limit, count: { key, windowMs, amount } }, index) => {
      if (limit !== 'tokens' || usedTokens === amount) return [];
      return [{ key, windowMs, amount: usedTokens - amount, window: statuses[index]?.window ?? 0 }];
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

function slotOf(subject: LimitSubject): SlotDemand[] {
  const { concurrency } = subject.limits;
  if (concurrency === undefined) return [];
  const slot = { key: keyOf(subject, 'concurrency'), limit: concurrency };
  return [{ subject, limit: 'concurrency', allowed: concurrency, slot }];
}

const keyOf = ({ kind, id }: LimitSubject, limit: LimitKind): string => `${limit} of ${kind} ${id}`;

@Module({
  imports: [MetricsModule, WorkersModule],
  providers: [CallCounts, LimitTimings, RateLimiter],
  exports: [CallCounts, RateLimiter],
})
export class LimitsModule {}
