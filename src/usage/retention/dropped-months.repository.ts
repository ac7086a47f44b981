import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { codeOf } from '../../platform/shared/index.js';
import { type Month, startOf } from './partitions.js';
import { CallsAreBusy } from '../usage.errors.js';

/** Everybody's calls wait behind who waits for this lock: so it is waited for shortly, and more than once. */
const LOCK_WAIT_MS = 200;
const LOCK_TRIES = 10;
const BETWEEN_TRIES_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';

const MONTHS = `
  SELECT right(c.relname, 7) AS month FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'calls'::regclass ORDER BY 1`;

const UNFINISHED = `
  SELECT EXISTS (SELECT FROM open_calls WHERE created_at < $1)
      OR EXISTS (SELECT FROM settlement_failures WHERE resolved_at IS NULL AND (call ->> 'created_at')::timestamptz < $1) AS found`;

const SUMMED_UP = 'SELECT summed_until >= $1 AS done FROM usage_watermark';

/** Months of calls as tables, and what stays of those that go. */
@Injectable()
export class DroppedMonths {
  constructor(private readonly dataSource: DataSource) {}

  /** Those that there are tables for, the oldest first. */
  async months(): Promise<readonly Month[]> {
    const rows = await this.dataSource.query<{ month: Month }[]>(MONTHS);
    return rows.map(({ month }) => month);
  }

  /** Whether a call of this month, or of an earlier one, is still to be settled. */
  async hasUnfinished(month: Month, manager: EntityManager = this.dataSource.manager): Promise<boolean> {
    const [row] = await manager.query<{ found: boolean }[]>(UNFINISHED, [startOf(month, 1).toISOString()]);
    return row?.found ?? true;
  }

  /** Brings the sums that the charts are made of to the end of the month. Gives whether it did, before it was to stop. */
  async sumUp(month: Month, stopped?: AbortSignal): Promise<boolean> {
    while (!(await this.isSummedUp(month, this.dataSource.manager))) {
      if (stopped?.aborted === true) return false;
      await this.dataSource.query('SELECT sum_up_usage()');
    }
    return true;
  }

  /**
   * Keeps the sums of a month and drops its calls, and their attempts, in one transaction. Gives how many there were;
   * undefined when another process is at it, or has done it.
   * @param record writes of it in the same transaction
   * @throws CallsAreBusy when the tables are read for long, as by a backup, or a call of then has come in
   */
  drop(month: Month, record: (calls: number, manager: EntityManager) => Promise<void>): Promise<number | undefined> {
    return soleTransaction(this.dataSource, ADVISORY_LOCKS.retention, async (manager) => {
      if (!(await isThere(month, manager))) return undefined;
      // Nothing is added to the month from here on; it can be read.
      await manager.query(`LOCK TABLE calls_${month} IN SHARE MODE`);
      if ((await this.hasUnfinished(month, manager)) || !(await this.isSummedUp(month, manager)))
        throw new CallsAreBusy();
      const [row] = await manager.query<{ calls: string }[]>(
        `SELECT keep_sums_of_calls(to_date($1, 'YYYY_MM')) AS calls`,
        [month],
      );
      const calls = Number(row?.calls);
      await record(calls, manager);
      await lockAll(manager);
      await manager.query(`DROP TABLE calls_${month}, call_attempts_${month}`);
      return calls;
    });
  }

  private async isSummedUp(month: Month, manager: EntityManager): Promise<boolean> {
    const [row] = await manager.query<{ done: boolean }[]>(SUMMED_UP, [startOf(month, 1).toISOString()]);
    return row?.done ?? false;
  }
}

/** Whether nobody has dropped it before us. */
async function isThere(month: Month, manager: EntityManager): Promise<boolean> {
  const [row] = await manager.query<{ there: boolean }[]>('SELECT to_regclass($1) IS NOT NULL AS there', [
    `calls_${month}`,
  ]);
  return row?.there ?? false;
}

/** What dropping a partition takes of its table. */
async function lockAll(manager: EntityManager): Promise<void> {
  await manager.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
  for (let tries = 1; ; tries++) {
    await manager.query('SAVEPOINT before_lock');
    try {
      await manager.query('LOCK TABLE ONLY calls, ONLY call_attempts IN ACCESS EXCLUSIVE MODE');
      return;
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (tries === LOCK_TRIES) throw new CallsAreBusy();
      await manager.query('ROLLBACK TO SAVEPOINT before_lock');
      await sleep(BETWEEN_TRIES_MS);
    }
  }
}
