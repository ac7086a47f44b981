import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { compositeArray, DatabasePools, isOutage, storableJson, textArray } from '../../platform/database/index.js';
import { Clock, codeOf, newId, reasonOf } from '../../platform/shared/index.js';
import { CallPartitions } from '../../usage/index.js';
import {
  ADMISSION,
  AdmissionHealth,
  EXTENSION,
  type AdmissionOutcome,
  type AdmissionRequest,
  type AdmissionResult,
  type BudgetPeriod,
  type ExtensionOutcome,
  type ExtensionRequest,
  type ExtensionResult,
  type FundsLeft,
} from './admission.js';
import { ATTEMPT } from './attempt-log.js';
import { MoneyMetrics } from './billing-metrics.js';
import { type CallRow, SETTLEMENT } from './call-row.js';
import type { PriceSnapshot } from './price.js';

/** PostgreSQL: unique violation. */
const ALREADY_THERE = '23505';
/** PostgreSQL: check violation, and (without a constraint name) a missing partition. */
const CHECK_VIOLATION = '23514';

const ADMIT = 'SELECT outcome, hold, free, on_hold, holds, period FROM admit_calls($1, $2)';
/** A key without a known secret. */
const NEW_KEY = `INSERT INTO api_keys (id, account_id, name, hint, secret_hash) VALUES ($1, $2, '', '', sha256(($1::text)::bytea))`;

interface FundsRow {
  free: string | null;
  on_hold: string | null;
  holds: number | null;
  period: BudgetPeriod | null;
}

interface AdmissionRow extends FundsRow {
  outcome: AdmissionOutcome;
  hold: string | null;
}

interface ExtensionRow extends FundsRow {
  outcome: ExtensionOutcome;
  granted: string;
}

/** Calls the SQL functions that write wallets, keys, budgets and calls at once (platform/database/sql). */
@Injectable()
export class BillingRepository {
  constructor(
    private readonly pools: DatabasePools,
    private readonly clock: Clock,
    private readonly metrics: MoneyMetrics,
    private readonly partitions: CallPartitions,
    private readonly health: AdmissionHealth,
  ) {}

  /**
   * One result per request, in order. Does not wait for the disk: holds need not survive a crash of the server. Creates
   * missing partitions first; without one a call could not be settled, and is rejected.
   */
  async admit(batch: readonly AdmissionRequest[]): Promise<AdmissionResult[]> {
    try {
      const results = await this.admitCovered(batch);
      this.health.noteSuccess();
      this.metrics.admitted(batch, results);
      return results;
    } catch (error) {
      if (isOutage(error)) this.health.noteFailure();
      throw error;
    }
  }

  /**
   * Runs admission for one call and rolls it back; the wallet is locked for that moment.
   * @param isNewKey creates a key with this ID for the trial
   */
  async tryAdmission(request: AdmissionRequest, isNewKey: boolean): Promise<AdmissionResult> {
    const client = await this.pools.admission.connect();
    try {
      await client.query('BEGIN');
      if (isNewKey) await client.query(NEW_KEY, [request.key_id, request.account_id]);
      const { rows } = await client.query<AdmissionRow>(ADMIT, admissionValues([request]));
      const [row] = rows;
      if (row === undefined) throw new Error('Admission returned no result.');
      return admissionResult(row);
    } finally {
      // A connection that cannot roll back is discarded, which rolls back as well.
      await client.query('ROLLBACK').then(
        () => client.release(),
        (error: Error) => client.release(error),
      );
    }
  }

  /** Extends holds of running calls; one result per request, in order. Does not wait for the disk either. */
  async extend(batch: readonly ExtensionRequest[]): Promise<ExtensionResult[]> {
    const snapshots = new Snapshots();
    const calls = compositeArray(
      EXTENSION,
      batch.map(({ admission, held, want }) => ({
        ...admission,
        snapshot: snapshots.place(admission.snapshot),
        held,
        want,
      })),
    );
    const { rows } = await this.metrics.timed('extend', batch.length, () =>
      this.pools.admission.query<ExtensionRow>({
        name: 'extend',
        text: 'SELECT outcome, granted, free, on_hold, holds, period FROM extend_calls($1, $2)',
        values: [calls, snapshots.storable],
      }),
    );
    const results = rows.map(({ outcome, granted, ...funds }) => {
      return { outcome, granted: BigInt(granted), ...fundsLeft(funds) };
    });
    this.metrics.extended(batch, results);
    return results;
  }

  /** Amounts collected per call, in order; undefined if settled before. */
  settle(batch: readonly CallRow[]): Promise<(bigint | undefined)[]> {
    return this.settleLatest(() => batch);
  }

  /** The same for rows that may change until a connection is available. */
  async settleLatest(batch: () => readonly CallRow[]): Promise<(bigint | undefined)[]> {
    try {
      return await this.settleBatch(batch, 'plain');
    } catch (error) {
      if (hasNoPartition(error)) return this.settleCovered(batch);
      if (codeOf(error) !== ALREADY_THERE) throw error;
      // A call was settled before its admission arrived: compare open calls with settled ones.
      return this.settleBatch(batch, 'careful');
    }
  }

  /** Releases holds of open calls that were settled a minute ago: their admission was late. Returns their number. */
  async releaseSettledHolds(): Promise<number> {
    const { rows } = await this.pools.settlement.query<{ released: number }>(
      'SELECT release_settled_holds($1) AS released',
      [newId('led', this.clock.now())],
    );
    return rows[0]?.released ?? 0;
  }

  /** Stores a call whose settlement the database rejects, with everything needed to settle it manually. */
  async recordFailure(row: CallRow, error: unknown): Promise<void> {
    await this.pools.settlement.query(
      'INSERT INTO settlement_failures (call_id, error, call) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [row.id, reasonOf(error).replaceAll('\0', ''), storableJson(JSON.stringify(row))],
    );
  }

  private async admitCovered(batch: readonly AdmissionRequest[]): Promise<AdmissionResult[]> {
    for (const { created_at } of batch)
      if (!this.partitions.covers(created_at)) await this.partitions.cover(created_at);
    const { rows } = await this.metrics.timed('admit', batch.length, () =>
      this.pools.admission.query<AdmissionRow>({ name: 'admit', text: ADMIT, values: admissionValues(batch) }),
    );
    return rows.map(admissionResult);
  }

  /** Creates missing partitions: after a clock change, or for calls rejected before their month was checked. */
  private async settleCovered(batch: () => readonly CallRow[]): Promise<(bigint | undefined)[]> {
    const months = new Set(batch().map(({ created_at }) => created_at.slice(0, 7)));
    for (const month of months) await this.partitions.cover(month);
    return this.settleBatch(batch, 'careful');
  }

  private async settleBatch(
    batch: () => readonly CallRow[],
    care: 'plain' | 'careful',
  ): Promise<(bigint | undefined)[]> {
    const entry = newId('led', this.clock.now());
    let sent = batch();
    const { rows } = await this.metrics.timed('settle', sent.length, () =>
      this.pools.settlement.query<{ collected: string | null }>({
        name: 'settle',
        text: 'SELECT collected FROM settle_calls($1, $2, $3, $4, $5, $6)',
        // The driver reads this when it has a connection, which may take long.
        get values() {
          sent = batch();
          return [...settlementValues(sent), entry, care === 'careful'];
        },
      }),
    );
    const results = rows.map(({ collected }) => (collected === null ? undefined : BigInt(collected)));
    this.metrics.settled(sent, results);
    return results;
  }
}

const hasNoPartition = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === CHECK_VIOLATION && error.constraint === undefined;

function admissionValues(batch: readonly AdmissionRequest[]): unknown[] {
  const snapshots = new Snapshots();
  const calls = compositeArray(ADMISSION, batch, { snapshot: ({ snapshot }) => snapshots.place(snapshot) });
  return [calls, snapshots.storable];
}

const admissionResult = ({ outcome, hold, ...funds }: AdmissionRow): AdmissionResult => ({
  outcome,
  hold: BigInt(hold ?? 0),
  ...fundsLeft(funds),
});

function settlementValues(batch: readonly CallRow[]): unknown[] {
  const snapshots = new Snapshots();
  const calls = compositeArray(SETTLEMENT, batch, {
    snapshot: ({ snapshot }) => snapshot && snapshots.place(snapshot),
  });
  const lines = textArray(batch.map((row) => row.lines && storableJson(row.lines)));
  const attempts = batch.flatMap((row) => row.attempt_rows);
  return [calls, snapshots.storable, lines, compositeArray(ATTEMPT, attempts)];
}

function fundsLeft({ free, on_hold, holds, period }: FundsRow): FundsLeft {
  const left = { free: BigInt(free ?? 0), onHold: BigInt(on_hold ?? 0), holds: holds ?? 0 };
  return period === null ? left : { ...left, period };
}

/** Distinct snapshots of a batch. */
class Snapshots {
  private readonly texts: PriceSnapshot[] = [];

  /** As an array of JSON. */
  get storable(): string {
    return textArray(this.texts.map(storableJson));
  }

  /** Index of a snapshot, from 1. */
  place(text: PriceSnapshot): number {
    const index = this.texts.indexOf(text);
    return index < 0 ? this.texts.push(text) : index + 1;
  }
}
