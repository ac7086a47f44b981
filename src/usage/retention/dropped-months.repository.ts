import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS, soleTransaction } from '../../platform/database/index.js';
import { codeOf } from '../../platform/shared/index.js';
import { type Month, startOf } from './partitions.js';
import { CallsAreBusy } from '../usage.errors.js';

/** Calls queue behind a waiting lock request, so the wait is short and repeated. */
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

const ROLLED_UP = 'SELECT summed_until >= $1 AS done FROM usage_watermark';

/** Partitions of calls, and the totals that remain of dropped ones. */
@Injectable()
export class DroppedMonths {
  constructor(private readonly dataSource: DataSource) {}

  /** Months with partitions, oldest first. */
  async months(): Promise<readonly Month[]> {
    const rows = await this.dataSource.query<{ month: Month }[]>(MONTHS);
    return rows.map(({ month }) => month);
  }

  /** Whether calls of this or an earlier month are not settled yet. */
  async hasUnfinished(month: Month, manager: EntityManager = this.dataSource.manager): Promise<boolean> {
    const [row] = await manager.query<{ found: boolean }[]>(UNFINISHED, [startOf(month, 1).toISOString()]);
    return row?.found ?? true;
  }

  /** Rolls up calls to the end of the month. False if stopped before. */
  async rollUp(month: Month, stopped?: AbortSignal): Promise<boolean> {
    while (!(await this.isSummedUp(month, this.dataSource.manager))) {
      if (stopped?.aborted === true) return false;
      await this.dataSource.query('SELECT sum_up_usage()');
    }
    return true;
  }

  /**
   * Keeps a month's totals and drops its calls and attempts in one transaction. Returns the number of calls; undefined
   * if another process does or did it.
   * @param record writes the audit entry in the same transaction
   * @throws CallsAreBusy when the tables are read for long, as by a backup, or a late call has arrived
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
    const [row] = await manager.query<{ done: boolean }[]>(ROLLED_UP, [startOf(month, 1).toISOString()]);
    return row?.done ?? false;
  }
}

/** False if another process dropped it. */
async function isThere(month: Month, manager: EntityManager): Promise<boolean> {
  const [row] = await manager.query<{ there: boolean }[]>('SELECT to_regclass($1) IS NOT NULL AS there', [
    `calls_${month}`,
  ]);
  return row?.there ?? false;
}

/** The locks needed for dropping a partition. */
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
