import type { PriceSnapshot } from './price-snapshot.js';

/** Admission request of a call; amounts in nanos. */
export interface AdmissionRequest {
  readonly id: string;
  readonly created_at: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly key_version: number;
  readonly catalog_version: string;
  readonly process_id: string;
  readonly model: string;
  readonly group_name: string;
  readonly protocol: string;
  readonly stream: boolean;
  readonly effort: string;
  readonly ip: string;
  readonly snapshot: PriceSnapshot;
  readonly prompt: string;
  readonly minimum: string;
  readonly base: string;
  readonly ceiling: string;
}

/** What lacks money. */
export type Shortage = 'wallet' | 'key' | 'budget';
export type BudgetPeriod = 'day' | 'week' | 'month';

export type AdmissionOutcome = 'admitted' | 'stale' | 'key_state' | 'account_state' | 'owed' | Shortage;

/** State of the wallet, or of the key or budget that lacks money. */
export interface FundsLeft {
  /** Available when the call arrived; for an account in debt, minus the debt. */
  readonly free: bigint;
  /** Held by running calls. */
  readonly onHold: bigint;
  /** Number of running calls with a hold on the wallet. */
  readonly holds: number;
  /** The budget that lacks money. */
  readonly period?: BudgetPeriod;
}

/** The decision about one call. */
export interface AdmissionResult extends FundsLeft {
  readonly outcome: AdmissionOutcome;
  readonly hold: bigint;
}

/** Whether the wallet, the key or a budget does not have enough. */
export const isShort = ({ outcome }: AdmissionResult): boolean =>
  outcome === 'wallet' || outcome === 'key' || outcome === 'budget';

/** Requests a larger hold for a running call. */
export interface ExtensionRequest {
  /** The call as admitted, in case the database lost its row. */
  readonly admission: AdmissionRequest;
  /** The hold as the process knows it. */
  readonly held: bigint;
  /** The requested increase. Idempotent for the same `held`. */
  readonly want: bigint;
}

/** 'closed': the call was settled or swept. */
export type ExtensionOutcome = 'extended' | 'closed' | 'key_state' | 'account_state' | 'owed' | Shortage;

export interface ExtensionResult extends FundsLeft {
  readonly outcome: ExtensionOutcome;
  /** The increase, possibly less than requested; 0 unless 'extended'. */
  readonly granted: bigint;
}
