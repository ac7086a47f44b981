import { type Caller, RefusedKey } from '../../keys/index.js';
import { type AppError, errorReason, recordedMessage } from '../../platform/shared/index.js';
import { type CallTrace, NO_TOKENS, type ProtocolId, type TokenUsage } from '../../protocols/contract/index.js';
import { OutOfCredit } from './billing.errors.js';
import type { PriceSnapshot } from './price.js';
import { checkUsage, excesses, qualityOf, type UsageBounds, type UsageFinding } from './usage-check.js';

type CallStatus = 'succeeded' | 'failed' | 'cancelled' | 'refused' | 'interrupted';
type BillingBasis = 'reported' | 'estimated' | 'corrected' | 'partial' | 'free';

/** How a call ended. */
export type Ending =
  { readonly status: 'succeeded' } | { readonly status: 'cancelled' | 'failed' | 'refused'; readonly error: AppError };

/** What was seen of a response when the call ended. */
export interface Progress {
  /** The upstream's latest plausible report. */
  readonly usage: TokenUsage | undefined;
  /** The same as reported. */
  readonly reported?: TokenUsage | undefined;
  /** The report came before the response and contains the prompt at most. */
  readonly isProvisional?: boolean;
  /** Counted prompt tokens in place of a missing report; absent if not counted. */
  readonly countedPrompt?: number | undefined;
  /** Output tokens as far as known, and those among them that were visible. */
  readonly outputUnits: number;
  readonly shownUnits: number;
  /** Metered output in tokens; undefined if not metered. */
  readonly seenUnits?: number | undefined;
  /** Max possible usage of the call. */
  readonly bounds: UsageBounds;
  /** Content was sent to the client. */
  readonly begun: boolean;
  /** The request was sent completely and not rejected: its prompt is charged. */
  readonly promptSent: boolean;
}

/** What is charged and on which basis. Undefined usage: nothing. */
export interface Charge {
  readonly basis: BillingBasis;
  readonly usage: TokenUsage | undefined;
  /** Findings about the report; absent if there are none. */
  readonly findings?: readonly UsageFinding[];
}

const FREE: Charge = { basis: 'free', usage: undefined };

/** The billing rules for all endings (docs/money.md). */
export function chargeFor(ending: Ending, progress: Progress, likelyPromptTokens: number): Charge {
  const counted = { ...NO_TOKENS, input: likelyPromptTokens, output: progress.outputUnits };
  switch (ending.status) {
    case 'succeeded':
      return finished(progress, counted);
    case 'refused':
      return FREE;
    case 'failed':
    case 'cancelled':
      return isPartial(ending, { ...progress, silent: !progress.begun }) ? partial(progress, counted) : FREE;
    default:
      return ending satisfies never;
  }
}

/** Whether usage until the end is charged although the call did not succeed. */
export function isPartial(
  ending: Ending,
  { silent, promptSent }: { readonly silent: boolean; readonly promptSent: boolean },
): boolean {
  if (ending.status === 'cancelled') return !silent || promptSent;
  if (ending.status !== 'failed') return false;
  return !silent || ranOut(ending.error) || (promptSent && wasRevoked(ending.error));
}

/** Among failures of admitted calls, only revocation of the key is the owner's responsibility. */
const wasRevoked = (error: AppError): boolean => error instanceof RefusedKey;

/** Not a failure of upstream or relay: usage is charged as far as the money goes. */
export const ranOut = (error: AppError): boolean => error instanceof OutOfCredit;

/** Billing basis by quality of the report. */
const BASES = { complete: 'reported', partial: 'estimated', implausible: 'corrected' } as const;

/** Uses the report where it is complete and plausible, counts otherwise. */
function finished(progress: Progress, likely: TokenUsage): Charge {
  const { usage, reported = usage, isProvisional, countedPrompt, shownUnits: output, seenUnits, bounds } = progress;
  const prompt = countedPrompt ?? likely.input;
  if (reported === undefined) {
    return { basis: 'estimated', usage: { ...likely, input: prompt, output: Math.min(output, bounds.completion) } };
  }
  const checked = checkUsage(reported, bounds, { prompt, output, seen: seenUnits }, isProvisional);
  if (checked.findings.length === 0) return { basis: 'reported', usage: checked.usage };
  return { basis: BASES[qualityOf(checked.findings)], ...checked };
}

/** Uses the report so far, but at least the visible output: some upstreams report output only at the end. */
function partial({ usage, reported, countedPrompt, outputUnits, bounds }: Progress, likely: TokenUsage): Charge {
  const prompt = countedPrompt ?? likely.input;
  if (usage === undefined) return { basis: 'partial', usage: { ...likely, input: prompt } };
  const findings = reported === undefined ? [] : excesses(reported, bounds);
  return {
    basis: 'partial',
    usage: { ...usage, input: usage.input || prompt, output: Math.max(usage.output, outputUnits) },
    ...(findings.length > 0 && { findings }),
  };
}

/** A row of `call_attempts`. Times in ms since its start; null: did not happen. */
export interface AttemptRow {
  readonly call_id: string;
  readonly ordinal: number;
  readonly created_at: string;
  readonly channel: string;
  readonly protocol: string;
  readonly upstream_model: string;
  readonly upstream_status: number | null;
  readonly outcome: string;
  readonly headers_ms: number | null;
  readonly first_token_ms: number | null;
  readonly duration_ms: number;
  /** Index of the channel's credential, from 1; null if it has none. */
  readonly credential: number | null;
  /** Error message as clients see it, else empty. */
  readonly reason: string;
  /** Ms since the call's start. */
  readonly begun_ms: number;
  readonly connect_ms: number | null;
  /** Of the body. */
  readonly first_byte_ms: number | null;
  /** Version of the channel's costs; null: they do not cover the model. */
  readonly cost_version: string | null;
  /** Upstream cost in nanos; null: unknown. */
  readonly upstream_cost: string | null;
  /** The upstream's request ID; empty if none. */
  readonly upstream_request_id: string;
}

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
  readonly tries: readonly AttemptRow[];
  /** Ms from arrival until a hold was requested, and until the response to that; null: no hold. */
  readonly hold_begun_ms: number | null;
  readonly hold_ms: number | null;
  /** Ms from its end until the row was sent; null before. */
  readonly settle_wait_ms: number | null;
  /** `WaitRecords` as JSON; null: none. */
  readonly waits: string | null;
  /** The rejected usage report as JSON with its findings; null: none. */
  readonly upstream_report: string | null;
}

/** A call rejected before its body was read. */
export interface RefusedCall {
  readonly id: string;
  readonly createdAt: number;
  readonly protocol: ProtocolId;
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
