import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** How far looks have come. */
export interface ScanProgress {
  /** Everybody whose money was moved before was looked at. */
  readonly movedUntil: Date;
  /** The last account whose turn it was. */
  readonly lookedTo: string;
  /** So many ms it is too early for the next look. */
  readonly earlyMs: number;
}

/** How long nobody looks after a look. */
interface ScanPause {
  /** At least. */
  readonly ms: number;
  /** For so many times as long as the look took. */
  readonly times: number;
}

/** Longer than any statement takes: one that runs into a lock of somebody else's is given up. */
const STATEMENT_LIMIT_MS = 30_000;

const PROGRESS = `
  SELECT moved_until AS "movedUntil", looked_to AS "lookedTo",
         extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "earlyMs"
    FROM alert_looks`;

/** By the time at which the database took entries in: that of their ids is of the clock of whoever made them. */
const MOVED = `
  SELECT DISTINCT substr(l.ledger_account, length('wallet:') + 1) AS id
    FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
   WHERE e.entered_at >= $1 AND starts_with(l.ledger_account, 'wallet:')`;

const TAKE_CHANGED = `
  WITH taken AS (DELETE FROM alert_rechecks RETURNING account_id)
  SELECT DISTINCT account_id AS id FROM taken`;

const NEXT_IN_TURN = 'SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2';

/** now() is when the look began: what has moved since is looked at next time. */
const ADVANCE = `
  WITH advanced AS (
    UPDATE alert_looks SET moved_until = now(), looked_to = $1,
           next_at = clock_timestamp() + greatest($2 * interval '1 ms', $3 * (clock_timestamp() - now()))
    RETURNING next_at
  )
  SELECT extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "waitMs" FROM advanced`;

/** Whose thresholds are to be looked at, and how far looks have come. All of a look is asked in one transaction. */
@Injectable()
export class ThresholdScans {
  /** Until the transaction ends. Itself it may last: that of a look stands still while others compare. */
  async limitStatements(manager: EntityManager): Promise<void> {
    await manager.query(
      `SET LOCAL statement_timeout = ${STATEMENT_LIMIT_MS}; SET LOCAL idle_in_transaction_session_timeout = 0`,
    );
  }

  async progress(manager: EntityManager): Promise<ScanProgress> {
    return only(await manager.query<ScanProgress[]>(PROGRESS));
  }

  /** Whose money was moved since then. */
  moved(since: Date, manager: EntityManager): Promise<readonly string[]> {
    return ids(MOVED, [since], manager);
  }

  /** Who has changed a threshold or a limit, or made a key. Another look is not told of them. */
  takeChanged(manager: EntityManager): Promise<readonly string[]> {
    return ids(TAKE_CHANGED, [], manager);
  }

  /** Those that come after this account. */
  nextInTurn(after: string, limit: number, manager: EntityManager): Promise<readonly string[]> {
    return ids(NEXT_IN_TURN, [after, limit], manager);
  }

  /** Ends a look. @returns how many ms nobody looks now */
  async advance(lookedTo: string, { ms, times }: ScanPause, manager: EntityManager): Promise<number> {
    return only(await manager.query<{ waitMs: number }[]>(ADVANCE, [lookedTo, ms, times])).waitMs;
  }
}

function only<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('The table alert_looks must have one row.');
  return row;
}

async function ids(sql: string, values: unknown[], manager: EntityManager): Promise<readonly string[]> {
  const rows = await manager.query<{ id: string }[]>(sql, values);
  return rows.map(({ id }) => id);
}
