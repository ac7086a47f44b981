import type { Nanos } from '../../platform/shared/index.js';
import type { WaitRecords } from '../../protocols/contract/index.js';

/** One term of a call's cost, as settled: the price in US dollars as a decimal. */
export interface CostLine {
  readonly item: string;
  readonly quantity: number;
  readonly price: string;
  /** For lines of passes: its number, from 1, and its model. */
  readonly pass?: number;
  readonly model?: string;
}

/** The part of a price snapshot shown beside the lines. Multipliers as decimals. */
export interface SnapshotView {
  readonly price_version?: string;
  /** Ascending, starting at 0. */
  readonly tiers?: readonly { readonly from_prompt_tokens: number }[];
  readonly service_tier?: string;
  readonly service_tier_multiplier?: string;
  readonly speed?: string;
  readonly speed_multiplier?: string;
  readonly geo?: string;
  readonly geo_multiplier?: string;
  readonly effort_multiplier: string;
  readonly group_multiplier: string;
  /** The model that served the call, if not the requested one. */
  readonly served_by?: string;
  /** Prices of other models used by passes. */
  readonly models?: Readonly<Record<string, SnapshotView>>;
}

/** A usage report that was not charged as is. Totals are null if missing, else as written. */
export interface UpstreamReport {
  /** Reasons, as named in relay/billing: `prompt_too_large`. */
  readonly findings: readonly string[];
  readonly prompt_tokens: number | string | null;
  readonly completion_tokens: number | string | null;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

/** An open or finished call. Money in nano-dollars; null: unknown or not yet known. */
export interface RecordedCall {
  readonly id: string;
  readonly createdAt: Date;
  readonly model: string;
  readonly group: string;
  readonly protocol: string;
  /** Protocol of the last upstream; empty: none asked yet. */
  readonly upstreamProtocol: string;
  readonly stream: boolean;
  readonly effort: string;
  /** `open` until settled. */
  readonly status: string;
  readonly errorReason: string;
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly completionTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly cost: Nanos | null;
  readonly uncollected: Nanos | null;
  /** Hold while open. */
  readonly held: Nanos;
  readonly billingBasis: string | null;
  /** The rejected usage report; null: none, or charged as reported. */
  readonly upstreamReport: UpstreamReport | null;
  /** Empty if nothing was priced. */
  readonly lines: readonly CostLine[];
  readonly snapshot: SnapshotView | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number | null;
  readonly attempts: number | null;
  readonly keyId: string;
  /** Channel of the last attempt, for administrators only. */
  readonly channel: string;
  readonly errorMessage: string;
  readonly ip: string;
  readonly result: CallOutcome;
  /** Ms from arrival until a hold was requested, and until the response to that; null: no hold. */
  readonly holdBegunMs: number | null;
  readonly holdMs: number | null;
  /**
   * Ms from its end until its row was sent to the database; null for calls of earlier releases and calls settled by
   * another process.
   */
  readonly settleWaitMs: number | null;
  /** What the response waited for; null: nothing. */
  readonly waits: WaitRecords | null;
}

/** Result for display: the function `call_result` in the database, and `open` for running calls. */
export type CallOutcome = 'completed' | 'cut' | 'refused' | 'failed' | 'timeout' | 'open';

/** In display order. */
export const CALL_RESULTS: readonly CallOutcome[] = ['completed', 'cut', 'refused', 'failed', 'timeout', 'open'];

/** Display names. */
export const RESULT_LABELS: Readonly<Record<CallOutcome, string>> = {
  completed: 'Completed',
  cut: 'Cut short',
  refused: 'Refused',
  failed: 'Failed',
  timeout: 'Timed out',
  open: 'In progress',
};

export const RESULT_TONES: Readonly<Record<CallOutcome, 'ok' | 'warn' | 'bad' | ''>> = {
  completed: 'ok',
  cut: 'warn',
  refused: 'bad',
  failed: 'bad',
  timeout: 'bad',
  open: '',
};

/** SQL expression for the result of finished calls with this alias. */
export const resultOf = (calls: string): string =>
  `call_result(${calls}.status, ${calls}.error_reason, ${calls}.billing_basis)`;

/** SQL condition for refused, failed and timed-out calls. */
export const hasFailed = (result: string): string => `${result} IN ('refused', 'failed', 'timeout')`;
