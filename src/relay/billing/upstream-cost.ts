import type { CallHead, TokenUsage } from '../../protocols/contract/index.js';
import type { Pricing } from '../../catalog/index.js';
import type { UpstreamCost } from '../../catalog/channels/index.js';
import { type Nanos, nanos, ZERO } from '../../platform/shared/index.js';
import type { AttemptLog } from './attempt-log.js';
import type { CallRow } from './call-row.js';
import { type BillingPlan, reportedModel } from './plan.js';
import { type CostTerm, costTerms, passTerms, sumOf } from './price.js';
import { headSent, serviceReported } from './service-tier.js';
import type { Ticket } from './ticket.js';

const MILLION = 1_000_000n;
/** Prices are per million tokens, and share, service tier, speed and region are in millionths. */
const DENOMINATOR = MILLION ** 5n;

/** One model's part of what an attempt used. */
export interface CostedPart {
  readonly cost: UpstreamCost;
  /** The model's own, which a share is one of, and which has the multipliers of the service. */
  readonly pricing: Pricing;
  readonly terms: (pricing: Pricing) => readonly CostTerm[];
}

/**
 * What usage costs the operator, rounded once, half up. Service tier, speed and region count as they do in the model's
 * price, because upstreams charge by them. Effort and group do not: upstreams charge for the tokens that effort takes,
 * and what a price adds for it is the operator's own, as is the group's discount.
 * @param usage what was reported of the service
 */
export function upstreamCost(parts: readonly CostedPart[], head: CallHead, usage: TokenUsage): Nanos {
  const sum = parts.reduce((total, { cost, pricing, terms }) => {
    const [charged, share] = 'share' in cost ? [pricing, cost.share] : [cost.pricing, MILLION];
    const { tier, speed, geo } = serviceReported(head, usage, pricing);
    return total + sumOf(terms(charged)) * tier.multiplier * speed.multiplier * geo.multiplier * share;
  }, 0n);
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
  const plan = admission?.plan;
  const costs = attempts.map((attempt, index) => {
    const usage = index === attempts.length - 1 ? served : attempt.usage;
    return plan && costOfAttempt(attempt, headSent(call, attempt), plan, usage);
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
  attempt: AttemptLog,
  head: CallHead,
  plan: BillingPlan,
  usage: TokenUsage | undefined,
): Nanos | undefined {
  const { fate } = attempt;
  if (fate === 'refused' || fate === 'never sent') return ZERO;
  if (usage === undefined || fate === 'unanswered') return undefined;
  const parts = [
    costedPart(attempt, plan, usage.servedBy, (pricing) => costTerms(pricing, usage)),
    ...(usage.passes ?? []).map((pass) =>
      costedPart(attempt, plan, pass.model, (pricing) => passTerms(pricing, pass.usage)),
    ),
  ];
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length ? undefined : upstreamCost(known, head, usage);
}

/** @param reported as the upstream names the model; undefined when it is not known what that costs */
function costedPart(
  attempt: AttemptLog,
  plan: BillingPlan,
  reported: string | undefined,
  terms: CostedPart['terms'],
): CostedPart | undefined {
  const model = reportedModel(plan, reported, (name) => attempt.upstreamNames(name));
  const cost = model && (model === plan.model ? attempt.cost : attempt.costOf(model.name));
  return model && cost && { cost, pricing: model.pricing, terms };
}
