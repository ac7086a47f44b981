import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import type { LimitStatuses } from './limit-status.js';
import { Metrics } from '../metrics/index.js';
import { Clock } from '../shared/index.js';
import { CallCounts } from './call-counts.js';
import type { Counts, Decision, Refusal } from './counts.js';
import { Demanded } from './demanded.js';
import { MemoryCounts } from './memory-counts.js';
import { RateLimited } from './rate-limited.js';
import type { Demand } from './subject.js';

/** Permission to run a call. End it exactly once; places are held until then. */
export class Permit {
  private ended = false;

  constructor(
    readonly standings: LimitStatuses,
    private readonly demanded: Demanded,
    private readonly decision: Decision,
    private readonly by: Counts,
  ) {}

  /** @param usedTokens of prompt and answer. Again does nothing */
  end(usedTokens: number): void {
    if (this.ended) return;
    this.ended = true;
    const { id, places } = this.demanded.taking;
    const corrections = this.demanded.corrections(usedTokens, this.decision);
    if (places.length === 0 && corrections.length === 0) return;
    this.by.giveBack({ id, places: places.map(({ key }) => key), corrections });
  }
}

/** Says of each call whether the limits of all whom it is counted for allow it. */
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

  /**
   * What refuses a call even when nobody else calls: it asks for more than a limit ever allows. Undefined when nothing
   * does. Nothing is counted.
   */
  refusalOfAlone(demand: Demand): RateLimited | undefined {
    const demanded = new Demanded(demand);
    const decision = new MemoryCounts(this.clock).decide(demanded.taking);
    if (!isRefused(decision)) return undefined;
    const standings = demanded.standings(decision, this.clock.now());
    return new RateLimited(demanded.exceeded(decision), decision.refusal.waitMs, standings);
  }

  /** Takes all that the call needs, or nothing. @throws RateLimited; never because counts are away */
  async take(demand: Demand): Promise<Permit> {
    const demanded = new Demanded(demand);
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
