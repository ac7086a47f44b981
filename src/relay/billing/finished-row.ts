import type { UpstreamCost } from '../../catalog/channels/index.js';
import type { Pricing } from '../../catalog/index.js';
import {
  type AppError,
  errorReason,
  formatUsd,
  type Nanos,
  nanos,
  recordedMessage,
  ZERO,
} from '../../platform/shared/index.js';
import { cacheWrites, type CallHead, type TokenUsage, withPasses } from '../../protocols/contract/index.js';
import type { AttemptLog } from './attempt-log.js';
import {
  type CallRow,
  type Charge,
  chargeFor,
  type Ending,
  type OpenCall,
  type Progress,
  ranOut,
  type RefusedCall,
} from './call-row.js';
import { promptByCount } from './hold.js';
import { type BillingPlan, chargedBy, type ChargedCall, reportedModel } from './plan.js';
import { costOfParts, type CostTerm, costTerms, passTerms, sumOf } from './price.js';
import { headSent, serviceReported } from './service-tier.js';
import type { Admission, Ticket } from './ticket.js';
import { reportColumn } from './usage-check.js';

/** The row of a call whose body was read, admitted or not. */
export function finishedRow(ticket: Ticket, ending: Ending, durationMs: number): CallRow {
  const { call, admission, caller } = ticket;
  const { head } = call;
  const lastAttempt = ticket.attempts.at(-1);
  const charge = admission && chargeOf(ticket, admission, ending);
  return {
    ...blank(call.id, call.createdAt),
    account_id: caller.accountId,
    key_id: caller.keyId,
    model: head.model,
    group_name: admission?.plan.group.name ?? caller.groupName,
    protocol: call.protocol,
    upstream_protocol: lastAttempt?.protocol ?? '',
    channel: lastAttempt?.channel ?? '',
    stream: head.stream,
    effort: head.effort ?? '',
    status: ending.status,
    ...(ending.status !== 'succeeded' && errorColumns(ending.error)),
    ...billed(ticket, charge),
    ...costedAttempts(ticket, usedUpstream(ticket, charge)),
    first_token_ms: head.stream && ending.status !== 'failed' ? rounded(ticket.firstTokenMs) : null,
    duration_ms: durationMs,
    attempts: ticket.attempts.length,
    ip: call.ip,
    opened: ticket.mayHold,
    ...timesOf(ticket, durationMs),
  };
}

/** The row of a call that shared another call's response: free, naming the other call. */
export function sharedRow(ticket: Ticket, ending: Ending, durationMs: number, sharedWith: string): CallRow {
  const row = finishedRow(ticket, ending, durationMs);
  return {
    ...row,
    // It was not rejected itself: the other call was.
    status: ending.status === 'refused' ? 'failed' : ending.status,
    error_message: `${row.error_message} (shared with ${sharedWith})`.trimStart(),
  };
}

/** The row of a call rejected before its body was read. */
export function refusedRow(refused: RefusedCall, error: AppError, durationMs: number): CallRow {
  return {
    ...blank(refused.id, refused.createdAt),
    account_id: refused.caller.accountId,
    key_id: refused.caller.keyId,
    group_name: refused.caller.groupName,
    protocol: refused.protocol,
    status: error.kind === 'context_canceled' ? 'cancelled' : 'refused',
    ...errorColumns(error),
    duration_ms: durationMs,
    ip: refused.ip,
  };
}

/** The row of a call whose outcome is unknown: nothing is charged. */
export const interruptedRow = (call: OpenCall, why: AppError): CallRow => ({
  ...blank(call.id, Date.parse(call.created_at)),
  ...call,
  status: 'interrupted',
  upstream_cost: null,
  ...errorColumns(why),
  opened: true,
});

function chargeOf(ticket: Ticket, { plan, bounds, credit }: Admission, ending: Ending): Charge {
  const charge = chargeFor(ending, { ...seen(ticket, plan), bounds }, bounds.likelyPrompt);
  const { usage } = charge;
  if (credit === undefined || usage === undefined || ending.status !== 'failed' || !ranOut(ending.error)) return charge;
  // Output that could not be paid for was not delivered.
  const output = Math.min(usage.output, credit.payableOutput(usage));
  return { ...charge, usage: { ...usage, output, reasoning: Math.min(usage.reasoning, output) } };
}

/** Usage that the upstream charges: its claim, whether plausible or charged or not. */
function usedUpstream(ticket: Ticket, charge: Charge | undefined): TokenUsage | undefined {
  const { reported, isProvisional } = ticket.progress();
  const claimed = isProvisional === true ? undefined : reported;
  return charge?.basis === 'corrected' ? (claimed ?? charge.usage) : (charge?.usage ?? claimed);
}

function billed({ call, admission, attempts, reported }: Ticket, charge: Charge | undefined): Partial<CallRow> {
  if (admission === undefined || charge === undefined) return {};
  const { plan, snapshot } = admission;
  const { basis, usage, findings = [] } = charge;
  if (usage === undefined) return { billing_basis: basis, snapshot };
  const upstreamNames = (model: string): readonly string[] => attempts.at(-1)?.upstreamNames(model) ?? [];
  const head = headSent(call, attempts.at(-1));
  const charged = chargedBy({ head }, plan, usage, upstreamNames);
  return {
    billing_basis: basis,
    cost: costOfParts(charged.parts).toString(),
    ...tokenColumns(withPasses(usage)),
    ...(reported !== undefined && findings.length > 0 && { upstream_report: reportColumn(reported, findings) }),
    snapshot: charged.snapshot,
    lines: linesOf(charged),
  };
}

/** All cost lines; those of passes have a number, from 1, and a model. */
const linesOf = ({ parts }: ChargedCall): string =>
  JSON.stringify(
    parts.flatMap(({ model, items }, pass) =>
      items.map(({ item, quantity, price }) => ({
        item,
        quantity,
        price: formatUsd(price),
        ...(pass > 0 && { pass, model }),
      })),
    ),
  );

function seen(ticket: Ticket, plan: BillingPlan): Omit<Progress, 'bounds'> {
  const { countedPrompt, ...progress } = ticket.progress();
  return {
    ...progress,
    countedPrompt: countedPrompt && promptByCount(ticket.call.head, plan, countedPrompt),
    promptSent: ticket.promptSent,
  };
}

const tokenColumns = (usage: TokenUsage): Partial<CallRow> => ({
  prompt_tokens: usage.input,
  cached_tokens: usage.cacheRead,
  cache_write_tokens: cacheWrites(usage),
  completion_tokens: usage.output,
  reasoning_tokens: usage.reasoning,
});

const errorColumns = (error: AppError): Pick<CallRow, 'error_reason' | 'error_message'> => ({
  error_reason: errorReason(error.kind),
  error_message: recordedMessage(error),
});

function timesOf({ holding, waits }: Ticket, durationMs: number): Partial<CallRow> {
  const records = waits.recordsUntil(durationMs);
  return {
    hold_begun_ms: rounded(holding?.atMs),
    hold_ms: rounded(holding?.tookMs),
    waits: records === undefined ? null : JSON.stringify(records),
  };
}

const rounded = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms));

/** A row with nothing but its ID: refused, free, without attempts. */
const blank = (id: string, createdAt: number): CallRow => ({
  id,
  created_at: new Date(createdAt).toISOString(),
  account_id: '',
  key_id: '',
  model: '',
  group_name: '',
  protocol: '',
  upstream_protocol: '',
  channel: '',
  stream: false,
  effort: '',
  status: 'refused',
  error_reason: '',
  error_message: '',
  prompt_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  completion_tokens: null,
  reasoning_tokens: null,
  cost: '0',
  upstream_cost: '0',
  billing_basis: 'free',
  first_token_ms: null,
  duration_ms: 0,
  attempts: 0,
  ip: '',
  snapshot: null,
  lines: null,
  opened: false,
  tries: [],
  hold_begun_ms: null,
  hold_ms: null,
  settle_wait_ms: null,
  waits: null,
  upstream_report: null,
});

const MILLION = 1_000_000n;
/** Prices are per million tokens; share, service tier, speed and region are in millionths. */
const DENOMINATOR = MILLION ** 5n;

/** Usage of one model within an attempt. */
export interface CostedPart {
  readonly cost: UpstreamCost;
  /** The model's own pricing, for shares and service multipliers. */
  readonly pricing: Pricing;
  readonly terms: (pricing: Pricing) => readonly CostTerm[];
}

/**
 * Upstream cost, rounded once, half up. Service tier, speed and region multiply it as they multiply the price, because
 * upstreams charge for them. Effort and group do not: they are the administrator's own markup or discount.
 * @param usage as reported
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
 * Rows of the attempts with their costs, and the total: null if one is unknown.
 * @param served usage of the last attempt; undefined: unknown
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

/** Rejected and unsent requests cost nothing. For unanswered ones the cost is unknown. */
function costOfAttempt(
  attempt: AttemptLog,
  head: CallHead,
  plan: BillingPlan,
  usage: TokenUsage | undefined,
): Nanos | undefined {
  const { delivery } = attempt;
  if (delivery === 'rejected' || delivery === 'unsent') return ZERO;
  if (usage === undefined || delivery === 'no response') return undefined;
  const parts = [
    costedPart(attempt, plan, usage.servedBy, (pricing) => costTerms(pricing, usage)),
    ...(usage.passes ?? []).map((pass) =>
      costedPart(attempt, plan, pass.model, (pricing) => passTerms(pricing, pass.usage)),
    ),
  ];
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length ? undefined : upstreamCost(known, head, usage);
}

/** @param reported model as the upstream names it @returns undefined if its cost is unknown */
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
