import { Injectable } from '@nestjs/common';
import { DatabasePools } from '../../platform/database/index.js';
import { monotonicMs, within } from '../../platform/shared/index.js';
import type { PriceSnapshot } from './price.js';

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

/** Fields of the composite type `admission`, in order. */
export const ADMISSION = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'key_version',
  'catalog_version',
  'process_id',
  'model',
  'group_name',
  'protocol',
  'stream',
  'effort',
  'ip',
  'snapshot',
  'prompt',
  'minimum',
  'base',
  'ceiling',
] as const satisfies readonly (keyof AdmissionRequest)[];

/** What lacks money. */
export type ShortFunds = 'wallet' | 'key' | 'budget';
export type BudgetPeriod = 'day' | 'week' | 'month';

export type AdmissionOutcome = 'admitted' | 'stale' | 'key_state' | 'account_state' | 'owed' | ShortFunds;

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

/** Fields of the composite type `extension`, in order. */
export const EXTENSION = [
  'id',
  'created_at',
  'account_id',
  'key_id',
  'process_id',
  'model',
  'group_name',
  'protocol',
  'stream',
  'effort',
  'ip',
  'snapshot',
  'held',
  'want',
] as const satisfies readonly (keyof AdmissionRequest | 'held' | 'want')[];

/** 'closed': the call was settled or swept. */
export type ExtensionOutcome = 'extended' | 'closed' | 'key_state' | 'account_state' | 'owed' | ShortFunds;

export interface ExtensionResult extends FundsLeft {
  readonly outcome: ExtensionOutcome;
  /** The increase, possibly less than requested; 0 unless 'extended'. */
  readonly granted: bigint;
}

/** How long the latest admission counts as evidence, in ms. */
const RECENT_MS = 2000;
/** Failed batches in a row that count as an outage; fewer are decided by a probe. */
const MAX_FAILURES = 3;
const PROBE_MS = 1000;
/** How long the result of a probe is used, in ms: the endpoint is public. */
const PROBE_LIFETIME_MS = 1000;

/** The write of an admission, rolled back: without connections or disk space, or on a read-only server, both fail. */
const PROBE = `
  DO $$ BEGIN
    INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, group_name, protocol, stream, effort,
      ip, snapshot)
    VALUES ('probe_' || gen_random_uuid(), '', '', 0, '', '', now(), '', '', false, '', '', '{}');
    RAISE EXCEPTION USING ERRCODE = 'SWPRB';
  EXCEPTION WHEN SQLSTATE 'SWPRB' THEN NULL;
  END $$`;

/** Whether calls can be admitted: as the latest admissions show, else by a write that is rolled back. */
@Injectable()
export class AdmissionHealth {
  private failures = 0;
  private latestMs = -Infinity;
  private probe = { atMs: -Infinity, result: Promise.resolve(false) };

  constructor(private readonly pools: DatabasePools) {}

  /** The batch was processed, whatever its results. */
  noteSuccess(): void {
    this.failures = 0;
    this.latestMs = monotonicMs();
  }

  /** The batch failed because of the database. */
  noteFailure(): void {
    this.failures += 1;
    this.latestMs = monotonicMs();
  }

  /** Never rejects; takes a second at most. */
  async check(): Promise<boolean> {
    const nowMs = monotonicMs();
    if (nowMs - this.latestMs < RECENT_MS) {
      if (this.failures === 0) return true;
      if (this.failures >= MAX_FAILURES) return false;
    }
    if (nowMs - this.probe.atMs >= PROBE_LIFETIME_MS) this.probe = { atMs: nowMs, result: this.canWrite() };
    return this.probe.result;
  }

  private async canWrite(): Promise<boolean> {
    const written = this.pools.admission.query(PROBE).then(
      () => true,
      () => false,
    );
    return (await within(written, PROBE_MS)) ?? false;
  }
}
