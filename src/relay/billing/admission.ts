import type { PriceSnapshot } from './price-snapshot.js';

/** What one call asks of admission; amounts in nanos. */
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

/** What has not enough for a call. */
export type Shortage = 'wallet' | 'key' | 'budget';
export type BudgetPeriod = 'day' | 'week' | 'month';

export type AdmissionOutcome = 'admitted' | 'stale' | 'key_state' | 'account_state' | 'owed' | Shortage;

/** What a call met of the wallet, or of the key or budget when that has not enough. */
export interface FundsLeft {
  /** What was free when the call came; of an account that owes, minus that. */
  readonly free: bigint;
  /** What running calls hold of the same. */
  readonly onHold: bigint;
  /** How many running calls hold of the wallet. */
  readonly holds: number;
  /** Which budget has not enough. */
  readonly period?: BudgetPeriod;
}

/** What admission decided for one call. */
export interface AdmissionResult extends FundsLeft {
  readonly outcome: AdmissionOutcome;
  readonly hold: bigint;
}

/** Whether the wallet, the key or a budget does not have enough. */
export const isShort = ({ outcome }: AdmissionResult): boolean =>
  outcome === 'wallet' || outcome === 'key' || outcome === 'budget';

/** Asks for more money for a call that still runs. */
export interface ExtensionRequest {
  /** As the call was admitted, should its row have been lost with the database. */
  readonly admission: AdmissionRequest;
  /** The hold as the process knows it. */
  readonly held: bigint;
  /** How much more it should be. Asking again with the same `held` does not raise it twice. */
  readonly want: bigint;
}

/** 'closed': the call has been settled or swept, and nothing can be held for it any more. */
export type ExtensionOutcome = 'extended' | 'closed' | 'key_state' | 'account_state' | 'owed' | Shortage;

export interface ExtensionResult extends FundsLeft {
  readonly outcome: ExtensionOutcome;
  /** Above what was held: all that was wanted or as much as there was; 0 unless 'extended'. */
  readonly granted: bigint;
}
