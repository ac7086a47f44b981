import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { compositeArray, DatabasePools, isOutage, storableJson } from '../../platform/database/index.js';
import { Clock, codeOf, newId, reasonOf } from '../../platform/shared/index.js';
import { CallPartitions } from '../../usage/index.js';
import type {
  AdmissionOutcome,
  AdmissionRequest,
  AdmissionResult,
  BudgetPeriod,
  ExtensionOutcome,
  ExtensionRequest,
  ExtensionResult,
  FundsLeft,
} from './admission.js';
import { AdmissionHealth } from './admission-health.js';
import { ADMISSION, ATTEMPT, EXTENSION, SETTLEMENT } from './batch-fields.js';
import type { CallRow } from './call-row.js';
import { MoneyMetrics } from './money-metrics.js';
import type { PriceSnapshot } from './price-snapshot.js';

/** The code of PostgreSQL for a row whose key another one has. */
const ALREADY_THERE = '23505';
/** The code for a row without a partition, which names no constraint, and for a row that violates a constraint. */
const CHECK_VIOLATION = '23514';

const ADMIT = 'SELECT outcome, hold, free, on_hold, holds, period FROM admit_calls($1, $2)';
/** Nobody has its secret. */
const NEW_KEY = `INSERT INTO api_keys (id, account_id, name, hint, secret_hash) VALUES ($1, $2, '', '', sha256(($1::text)::bytea))`;

interface FundsLine {
  free: string | null;
  on_hold: string | null;
  holds: number | null;
  period: BudgetPeriod | null;
}

interface AdmissionLine extends FundsLine {
  outcome: AdmissionOutcome;
  hold: string | null;
}

interface ExtensionLine extends FundsLine {
  outcome: ExtensionOutcome;
  granted: string;
}

/** The statements that write wallets, keys, budgets and calls at once; their text is in platform/database/sql. */
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
   * One result a request, in order. Runs without waiting for the disk: a hold need not survive a crash of the server.
   * Nothing is admitted that could not be settled for want of a partition.
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
   * What admission would say to one call now. It is asked, and all that it does is taken back; for that moment the wallet
   * is locked, as for any call.
   * @param isNewKey the key is not stored: one of this id is made for it, and taken back as well
   */
  async tryAdmission(request: AdmissionRequest, isNewKey: boolean): Promise<AdmissionResult> {
    const client = await this.pools.admission.connect();
    try {
      await client.query('BEGIN');
      if (isNewKey) await client.query(NEW_KEY, [request.key_id, request.account_id]);
      const { rows } = await client.query<AdmissionLine>(ADMIT, admissionValues([request]));
      const [line] = rows;
      if (line === undefined) throw new Error('Admission returned no result.');
      return admissionResult(line);
    } finally {
      // A connection that cannot even take it back is of no more use; its end takes it back as well.
      await client.query('ROLLBACK').then(
        () => client.release(),
        (error: Error) => client.release(error),
      );
    }
  }

  /** Raises the holds of running calls: one result a request, in order. Does not wait for the disk either. */
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
      this.pools.admission.query<ExtensionLine>({
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

  /** What was collected of each call, in order; undefined for one that had been settled before. */
  settle(batch: readonly CallRow[]): Promise<(bigint | undefined)[]> {
    return this.settleLatest(() => batch);
  }

  /** The same of rows that may change until a connection is there to take them. */
  async settleLatest(batch: () => readonly CallRow[]): Promise<(bigint | undefined)[]> {
    try {
      return await this.settleBatch(batch, 'plain');
    } catch (error) {
      if (hasNoPartition(error)) return this.settleCovered(batch);
      if (codeOf(error) !== ALREADY_THERE) throw error;
      // A call was settled, and then its admission came: what is open must be compared with what is settled.
      return this.settleBatch(batch, 'careful');
    }
  }

  /** Releases the holds of open calls that have been settled for a minute: their admission came late. Gives their number. */
  async releaseSettledHolds(): Promise<number> {
    const { rows } = await this.pools.settlement.query<{ released: number }>(
      'SELECT release_settled_holds($1) AS released',
      [newId('led', this.clock.now())],
    );
    return rows[0]?.released ?? 0;
  }

  /** Puts a call aside whose settlement the database refuses, with all there is to settle it by hand. */
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
      this.pools.admission.query<AdmissionLine>({ name: 'admit', text: ADMIT, values: admissionValues(batch) }),
    );
    return rows.map(admissionResult);
  }

  /** The clock has stepped since these calls began, or they were refused before their month was looked at. */
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
        // The driver asks for them when it has a connection, which may take as long as all patience.
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
  const calls = compositeArray(
    ADMISSION,
    batch.map((request) => ({ ...request, snapshot: snapshots.place(request.snapshot) })),
  );
  return [calls, snapshots.storable];
}

const admissionResult = ({ outcome, hold, ...funds }: AdmissionLine): AdmissionResult => ({
  outcome,
  hold: BigInt(hold ?? 0),
  ...fundsLeft(funds),
});

function settlementValues(batch: readonly CallRow[]): unknown[] {
  const snapshots = new Snapshots();
  const calls = compositeArray(
    SETTLEMENT,
    batch.map((row) => ({ ...row, snapshot: row.snapshot && snapshots.place(row.snapshot) })),
  );
  const lines = batch.map((row) => row.lines && storableJson(row.lines));
  const tries = batch.flatMap((row) => row.tries);
  return [calls, snapshots.storable, lines, compositeArray(ATTEMPT, tries)];
}

function fundsLeft({ free, on_hold, holds, period }: FundsLine): FundsLeft {
  const left = { free: BigInt(free ?? 0), onHold: BigInt(on_hold ?? 0), holds: holds ?? 0 };
  return period === null ? left : { ...left, period };
}

/** The snapshots of a batch, each once. */
class Snapshots {
  private readonly texts: PriceSnapshot[] = [];

  get storable(): string[] {
    return this.texts.map(storableJson);
  }

  /** Its place among them, from 1. */
  place(text: PriceSnapshot): number {
    const index = this.texts.indexOf(text);
    return index < 0 ? this.texts.push(text) : index + 1;
  }
}
