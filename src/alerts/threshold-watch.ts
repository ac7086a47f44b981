import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS, soleTransaction } from '../database/index.js';
import { leastId } from '../shared/index.js';
import { thresholdsOf } from './alert-settings.repository.js';
import { USUAL_ALERTS } from './alert-settings.js';
import { AlertTimings } from './alert-timings.js';
import { LOOK } from './crossings.js';

/** So many accounts are looked at by one statement, and so many have their turn at each look. */
const MOST_AT_ONCE = 1_000;
/** Longer than any such statement takes: one that runs into a lock of somebody else's is given up. */
const STATEMENT_LIMIT_MS = 30_000;
/** An entry of the ledger is there so long after its id was made at the latest, whatever the clocks of processes say. */
const OVERLAP_MS = 30_000;
/** Nobody looks for so many times as long as a look took: it takes no more than an eleventh of one connection. */
const REST = 10;

const COME = `
  SELECT moved_until AS "movedUntil", looked_to AS "lookedTo",
         extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "earlyMs"
    FROM alert_looks`;

const MOVED = `
  SELECT DISTINCT substr(ledger_account, length('wallet:') + 1) AS id FROM ledger_lines
   WHERE entry_id >= $1 AND starts_with(ledger_account, 'wallet:')`;

const CHANGED = `
  WITH taken AS (DELETE FROM alert_rechecks RETURNING account_id)
  SELECT DISTINCT account_id AS id FROM taken`;

const NEXT_IN_TURN = 'SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2';

/** now() is when the look began: what has moved since is looked at next time. */
const GO_ON = `
  WITH gone AS (
    UPDATE alert_looks SET moved_until = now(), looked_to = $1,
           next_at = clock_timestamp() + greatest($2 * interval '1 ms', $3 * (clock_timestamp() - now()))
    RETURNING next_at
  )
  SELECT extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "waitMs" FROM gone`;

interface Come {
  readonly movedUntil: Date;
  readonly lookedTo: string;
  readonly earlyMs: number;
}

/**
 * Finds what is crossed and what is not any more: of those whose money was moved since the last look, of those who changed
 * a threshold or a limit, and of a thousand others, so that everybody has a turn within minutes. That is for what nothing
 * is heard of: an expiry that comes near, an account that is enabled again.
 */
@Injectable()
export class ThresholdWatch {
  constructor(
    private readonly dataSource: DataSource,
    private readonly timings: AlertTimings,
  ) {}

  /** Looks, unless another process is at it or has just been. @returns how many ms later it may be time for the next look */
  async look(): Promise<number> {
    const waitMs = await soleTransaction(this.dataSource, ADVISORY_LOCKS.alerts, async (manager) => {
      const [come] = await manager.query<Come[]>(COME);
      if (come === undefined) return undefined;
      return come.earlyMs > 0 ? come.earlyMs : this.lookFrom(come, manager);
    });
    return waitMs ?? this.timings.lookEveryMs;
  }

  private async lookFrom({ movedUntil, lookedTo }: Come, manager: EntityManager): Promise<number> {
    await manager.query(`SET LOCAL statement_timeout = ${STATEMENT_LIMIT_MS}`);
    const ids = async (sql: string, values: unknown[] = []): Promise<readonly string[]> =>
      (await manager.query<{ id: string }[]>(sql, values)).map(({ id }) => id);
    const moved = await ids(MOVED, [leastId('led', movedUntil.getTime() - OVERLAP_MS)]);
    const changed = await ids(CHANGED);
    const inTurn = await ids(NEXT_IN_TURN, [lookedTo, MOST_AT_ONCE]);
    const accounts = [...new Set([...moved, ...changed, ...inTurn])];
    for (let from = 0; from < accounts.length; from += MOST_AT_ONCE)
      await manager.query(LOOK, [...thresholdsOf(USUAL_ALERTS), accounts.slice(from, from + MOST_AT_ONCE)]);
    const last = inTurn.length < MOST_AT_ONCE ? '' : inTurn.at(-1);
    const [rest] = await manager.query<{ waitMs: number }[]>(GO_ON, [last, this.timings.lookEveryMs, REST]);
    return rest?.waitMs ?? this.timings.lookEveryMs;
  }
}
