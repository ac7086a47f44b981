import type { CallHead, TokenUsage } from '../call/index.js';
import type { Pricing } from '../catalog/index.js';
import type { UpstreamCost } from '../channels/index.js';
import { type Nanos, nanos, ZERO } from '../shared/index.js';
import type { AttemptLog } from './attempt-log.js';
import type { CallRow } from './call-row.js';
import { costTerms, sumOf } from './price.js';
import { tierAnswered } from './service-tier.js';
import type { Ticket } from './ticket.js';

const MILLION = 1_000_000n;
/** Prices are per million tokens, and share and service tier are in millionths. */
const DENOMINATOR = MILLION ** 3n;

/**
 * What usage costs the operator, rounded once, half up. The service tier counts as it does in the model's price, because
 * upstreams charge by it. Effort and group do not: upstreams charge for the tokens that effort takes, and what a price
 * adds for it is the operator's own, as is the group's discount.
 * @param pricing the model's own, which a share is one of
 */
export function upstreamCost(cost: UpstreamCost, head: CallHead, pricing: Pricing, usage: TokenUsage): Nanos {
  const [charged, share] = 'share' in cost ? [pricing, cost.share] : [cost.pricing, MILLION];
  const sum = sumOf(costTerms(charged, usage)) * tierAnswered(head, usage, pricing).multiplier * share;
  return nanos((2n * sum + DENOMINATOR) / (2n * DENOMINATOR));
}

/**
 * The attempts of a call as their rows, each with what it cost the operator, and what they cost together: undefined of
 * one is null for all.
 * @param served what the last attempt used; undefined: unknown
 */
export function costedAttempts(
  { attempts, admission, call }: Pick<Ticket, 'attempts' | 'admission' | 'call'>,
  served: TokenUsage | undefined,
): Pick<CallRow, 'tries' | 'upstream_cost'> {
  const pricing = admission?.plan.model.pricing;
  const costs = attempts.map((attempt, index) => {
    const usage = index === attempts.length - 1 ? served : attempt.usage;
    return pricing && costOfAttempt(attempt, call.head, pricing, usage);
  });
  const total = costs.reduce<bigint | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    ZERO,
  );
  return {
    tries: attempts.map((attempt, index) => ({ ...attempt.row(), upstream_cost: costs[index]?.toString() ?? null })),
    upstream_cost: total?.toString() ?? null,
  };
}

/** A refusal costs nothing, whatever answers cost there, nor does a request that never left. Whether one that was never answered was worked on, nobody knows. */
function costOfAttempt(
  { cost, fate }: AttemptLog,
  head: CallHead,
  pricing: Pricing,
  usage: TokenUsage | undefined,
): Nanos | undefined {
  if (fate === 'refused' || fate === 'never sent') return ZERO;
  if (cost === undefined || usage === undefined || fate === 'unanswered') return undefined;
  return upstreamCost(cost, head, pricing, usage);
}
