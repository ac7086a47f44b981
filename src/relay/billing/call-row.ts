import type { Caller } from '../../keys/index.js';
import { type AppError, errorReason, formatUsd, recordedMessage } from '../../platform/shared/index.js';
import {
  cacheWrites,
  type CallTrace,
  type ProtocolId,
  type TokenUsage,
  type Transport,
  withPasses,
} from '../../protocols/contract/index.js';
import type { AttemptRow } from './attempt-log.js';
import {
  type BillingBasis,
  type CallStatus,
  type Charge,
  chargeFor,
  costedAttempts,
  type Ending,
  type Progress,
  ranOut,
} from './charge.js';
import { promptByCount } from './hold.js';
import { type BillingPlan, chargedBy, type ChargedCall } from './plan.js';
import { costOfParts, type PriceSnapshot } from './price.js';
import { headSent } from './service-tier.js';
import type { Admission, Ticket } from './ticket.js';
import { reportColumn } from './usage-check.js';

/** A finished call for settlement: the columns of `calls`, and what moves money. Amounts in nanos. */
export interface CallRow {
  readonly id: string;
  readonly created_at: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly group_name: string;
  readonly protocol: string;
  readonly upstream_protocol: string;
  readonly channel: string;
  readonly stream: boolean;
  readonly effort: string;
  readonly status: CallStatus;
  readonly error_reason: string;
  readonly error_message: string;
  readonly prompt_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost: string;
  /** Total cost of its attempts; null: unknown for at least one. */
  readonly upstream_cost: string | null;
  readonly billing_basis: BillingBasis;
  readonly first_token_ms: number | null;
  readonly duration_ms: number;
  readonly attempts: number;
  readonly ip: string;
  readonly snapshot: PriceSnapshot | null;
  /** Cost lines as JSON. */
  readonly lines: string | null;
  /** Whether a hold may exist, which settlement then releases. */
  readonly opened: boolean;
  readonly attempt_rows: readonly AttemptRow[];
  /** Ms from arrival until a hold was requested, and until the response to that; null: no hold. */
  readonly hold_begun_ms: number | null;
  readonly hold_ms: number | null;
  /** Ms from its end until the row was last sent; null before. */
  settle_wait_ms: number | null;
  /** `WaitRecords` as JSON; null: none. */
  readonly waits: string | null;
  /** The rejected usage report as JSON with its findings; null: none. */
  readonly upstream_report: string | null;
  /** Requested max output tokens; null: none. */
  readonly output_limit: number | null;
  /** Of the client; null: unknown. */
  readonly transport: Transport | null;
}

/** Fields of the composite type `settlement`, in order. */
export const SETTLEMENT = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'model',
  'group_name',
  'protocol',
  'upstream_protocol',
  'channel',
  'stream',
  'effort',
  'status',
  'error_reason',
  'error_message',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost',
  'billing_basis',
  'first_token_ms',
  'duration_ms',
  'attempts',
  'ip',
  'opened',
  'snapshot',
  'upstream_cost',
  'hold_begun_ms',
  'hold_ms',
  'settle_wait_ms',
  'waits',
  'upstream_report',
  'output_limit',
  'transport',
] as const satisfies readonly (keyof CallRow)[];

/** A call rejected before or because of its body. */
export interface RefusedCall {
  readonly id: string;
  readonly createdAt: number;
  readonly protocol: ProtocolId;
  readonly transport: Transport;
  readonly ip: string;
  readonly caller: Pick<Caller, 'accountId' | 'keyId' | 'groupName'>;
  readonly startedMs: number;
  readonly trace?: CallTrace | undefined;
}

/** An unsettled call as stored. */
export type OpenCall = Pick<
  CallRow,
  'id' | 'created_at' | 'account_id' | 'key_id' | 'model' | 'group_name' | 'protocol' | 'stream' | 'effort' | 'ip'
> & { readonly snapshot: PriceSnapshot };

/** The log line of a finished call; never contains body, headers or key. */
export function callLine(row: CallRow, collected: bigint | undefined, traceId?: string): object {
  return {
    request_id: row.id,
    ...(traceId !== undefined && { trace_id: traceId }),
    key_id: row.key_id,
    model: row.model,
    group: row.group_name,
    channel: row.channel,
    status: row.status,
    ...(row.error_reason !== '' && { reason: row.error_reason }),
    first_token_ms: row.first_token_ms,
    duration_ms: row.duration_ms,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    cost_nanos: (collected ?? 0n).toString(),
  };
}

const NOTHING_CHARGED: Partial<CallRow> = {
  cost: '0',
  billing_basis: 'free',
  prompt_tokens: null,
  cached_tokens: null,
  cache_write_tokens: null,
  completion_tokens: null,
  reasoning_tokens: null,
  lines: null,
};

/**
 * The row of a complete response that was not recorded in time. The client got an error instead of its end: a stream is
 * charged, since all else was delivered; an unstreamed response is free.
 */
export const unrecordedRow = (row: CallRow, error: AppError): CallRow => ({
  ...row,
  status: 'failed',
  error_reason: errorReason(error.kind),
  error_message: recordedMessage(error),
  ...(row.stream ? { billing_basis: row.billing_basis === 'free' ? 'free' : 'partial' } : NOTHING_CHARGED),
});

/** The row of a call whose body was read, admitted or not. One literal, because copying 37 columns costs as much. */
export function finishedRow(ticket: Ticket, ending: Ending, durationMs: number): CallRow {
  const { call, admission, caller, holding } = ticket;
  const { head } = call;
  const lastAttempt = ticket.attempts.at(-1);
  const charge = admission && chargeOf(ticket, admission, ending);
  const { basis, cost, usage, lines, snapshot, report } = billOf(ticket, charge);
  const attempts = costedAttempts(ticket.attempts, call, admission?.plan, usedUpstream(ticket, charge));
  const error = ending.status === 'succeeded' ? undefined : ending.error;
  const waits = ticket.waits.recordsUntil(durationMs);
  return {
    id: call.id,
    created_at: new Date(call.createdAt).toISOString(),
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
    error_reason: error === undefined ? '' : errorReason(error.kind),
    error_message: error === undefined ? '' : recordedMessage(error),
    prompt_tokens: usage?.input ?? null,
    cached_tokens: usage?.cacheRead ?? null,
    cache_write_tokens: usage === undefined ? null : cacheWrites(usage),
    completion_tokens: usage?.output ?? null,
    reasoning_tokens: usage?.reasoning ?? null,
    cost,
    upstream_cost: attempts.cost,
    billing_basis: basis,
    first_token_ms: head.stream && ending.status !== 'failed' ? rounded(ticket.firstTokenMs) : null,
    duration_ms: durationMs,
    attempts: ticket.attempts.length,
    ip: call.ip,
    snapshot,
    lines,
    opened: ticket.mayHold,
    attempt_rows: attempts.rows,
    hold_begun_ms: rounded(holding?.atMs),
    hold_ms: rounded(holding?.tookMs),
    settle_wait_ms: null,
    waits: waits === undefined ? null : JSON.stringify(waits),
    upstream_report: report,
    output_limit: head.outputLimit ?? null,
    transport: call.transport,
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

/** The row of a call rejected before or because of its body. */
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
    transport: refused.transport,
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
  const charge = chargeFor(ending, { ...progressOf(ticket, plan), bounds }, bounds.likelyPrompt);
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

/** The charge of a call, in columns of its row. */
interface Bill {
  readonly basis: BillingBasis;
  readonly cost: string;
  /** With its passes; undefined: none. */
  readonly usage: TokenUsage | undefined;
  readonly lines: string | null;
  readonly snapshot: PriceSnapshot | null;
  readonly report: string | null;
}

const NO_BILL: Bill = { basis: 'free', cost: '0', usage: undefined, lines: null, snapshot: null, report: null };

function billOf({ call, admission, attempts, reported }: Ticket, charge: Charge | undefined): Bill {
  if (admission === undefined || charge === undefined) return NO_BILL;
  const { plan, snapshot } = admission;
  const { basis, usage, findings = [] } = charge;
  if (usage === undefined) return { ...NO_BILL, basis, snapshot };
  const upstreamNames = (model: string): readonly string[] => attempts.at(-1)?.upstreamNames(model) ?? [];
  const head = headSent(call, attempts.at(-1));
  const charged = chargedBy({ head }, plan, usage, upstreamNames);
  return {
    basis,
    cost: costOfParts(charged.parts).toString(),
    usage: withPasses(usage),
    lines: linesOf(charged),
    snapshot: charged.snapshot,
    report: reported !== undefined && findings.length > 0 ? reportColumn(reported, findings) : null,
  };
}

/** All cost lines; those of passes have a number, from 1, and a model. */
function linesOf({ parts }: ChargedCall): string {
  const lines: object[] = [];
  for (const [pass, { model, items }] of parts.entries())
    for (const { item, quantity, price } of items) {
      const line = { item, quantity, price: formatUsd(price) };
      lines.push(pass === 0 ? line : { ...line, pass, model });
    }
  return JSON.stringify(lines);
}

function progressOf(ticket: Ticket, plan: BillingPlan): Omit<Progress, 'bounds'> {
  const { countedPrompt, ...progress } = ticket.progress();
  return {
    ...progress,
    countedPrompt: countedPrompt && promptByCount(ticket.call.head, plan, countedPrompt),
    promptSent: ticket.promptSent,
  };
}

const errorColumns = (error: AppError): Pick<CallRow, 'error_reason' | 'error_message'> => ({
  error_reason: errorReason(error.kind),
  error_message: recordedMessage(error),
});

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
  attempt_rows: [],
  hold_begun_ms: null,
  hold_ms: null,
  settle_wait_ms: null,
  waits: null,
  upstream_report: null,
  output_limit: null,
  transport: null,
});
