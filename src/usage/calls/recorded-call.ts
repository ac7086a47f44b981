import type { Nanos } from '../../platform/shared/index.js';
import type { WaitRecords } from '../../protocols/contract/index.js';

/** One term of what a call cost, as settlement wrote it: the price in US dollars as a decimal. */
export interface CostLine {
  readonly item: string;
  readonly quantity: number;
  readonly price: string;
  /** Of a line beside the totals: which pass it belongs to, from 1, and the model that made it. */
  readonly pass?: number;
  readonly model?: string;
}

/** Of the prices that a call was admitted under, what is shown beside the lines. Multipliers as decimals. */
export interface SnapshotView {
  readonly price_version?: string;
  /** Ascending; the first begins at 0. */
  readonly tiers?: readonly { readonly from_prompt_tokens: number }[];
  readonly service_tier?: string;
  readonly service_tier_multiplier?: string;
  readonly speed?: string;
  readonly speed_multiplier?: string;
  readonly geo?: string;
  readonly geo_multiplier?: string;
  readonly effort_multiplier: string;
  readonly group_multiplier: string;
  /** The model that served the call, where it is not the one that was asked for. */
  readonly served_by?: string;
  /** Of the other models that passes are priced by. */
  readonly models?: Readonly<Record<string, SnapshotView>>;
}

/** A report of usage that was not charged as it was. A total is null where it was left out, else what was written. */
export interface UpstreamReport {
  /** Why, as the module of billing names it: `prompt_too_large`. */
  readonly findings: readonly string[];
  readonly prompt_tokens: number | string | null;
  readonly completion_tokens: number | string | null;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

/** A call, open or finished. Money in nano-dollars; null: unknown, or not yet. */
export interface RecordedCall {
  readonly id: string;
  readonly createdAt: Date;
  readonly model: string;
  readonly group: string;
  readonly protocol: string;
  /** The dialect of the upstream that was asked last; empty: none was, or not yet. */
  readonly upstreamProtocol: string;
  readonly stream: boolean;
  readonly effort: string;
  /** `open` until it is settled. */
  readonly status: string;
  readonly errorReason: string;
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly completionTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly cost: Nanos | null;
  readonly uncollected: Nanos | null;
  /** On hold for it while it is open. */
  readonly held: Nanos;
  readonly billingBasis: string | null;
  /** What its upstream reported; null: what was charged, or nothing. */
  readonly upstreamReport: UpstreamReport | null;
  /** None where nothing was priced. */
  readonly lines: readonly CostLine[];
  readonly snapshot: SnapshotView | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number | null;
  readonly attempts: number | null;
  readonly keyId: string;
  /** Where the last attempt went: for operators alone. */
  readonly channel: string;
  readonly errorMessage: string;
  readonly ip: string;
  readonly result: CallResult;
  /** Milliseconds from its arrival until a hold was asked for, and from there until that was answered; null: none was. */
  readonly holdBegunMs: number | null;
  readonly holdMs: number | null;
  /** From its end until the statement that wrote it was sent; null: from before that was recorded, or not settled by its process. */
  readonly settleWaitMs: number | null;
  /** What its answer stood still for; null: nothing. */
  readonly waits: WaitRecords | null;
}

/** How a call went, as people read it: `call_result` in the database, and `open` for one that runs. */
export type CallResult = 'completed' | 'cut' | 'refused' | 'failed' | 'timeout' | 'open';

/** In the order that they are offered in. */
export const CALL_RESULTS: readonly CallResult[] = ['completed', 'cut', 'refused', 'failed', 'timeout', 'open'];

/** Its words. */
export const RESULT_LABELS: Readonly<Record<CallResult, string>> = {
  completed: 'Completed',
  cut: 'Cut short',
  refused: 'Refused',
  failed: 'Failed',
  timeout: 'Timed out',
  open: 'In progress',
};

export const RESULT_TONES: Readonly<Record<CallResult, 'ok' | 'warn' | 'bad' | ''>> = {
  completed: 'ok',
  cut: 'warn',
  refused: 'bad',
  failed: 'bad',
  timeout: 'bad',
  open: '',
};

/** SQL for how a call went, of finished calls under this name. */
export const resultOf = (calls: string): string =>
  `call_result(${calls}.status, ${calls}.error_reason, ${calls}.billing_basis)`;

/** SQL for whether that is refused, failed or timed out. */
export const hasFailed = (result: string): string => `${result} IN ('refused', 'failed', 'timeout')`;
