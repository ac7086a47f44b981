import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What stays of calls that are not kept any more, so that everything that was made of them can still be recomputed. */
export class KeepSumsOfDroppedCalls20261123010000 implements MigrationInterface {
  readonly name = 'KeepSumsOfDroppedCalls20261123010000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [TABLES, KEEP]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const TABLES = `
  -- A row for each key, of each account, in each month that was dropped. entry_id: what moved the money, of those few calls
  -- whose entry was written after their month; empty for all others, whose entries have no calls left.
  CREATE TABLE dropped_calls (
    key_id     text NOT NULL,
    month      date NOT NULL,
    account_id text NOT NULL,
    entry_id   text NOT NULL,
    calls      bigint NOT NULL,
    cost       bigint NOT NULL,
    last_at    timestamptz NOT NULL,
    CONSTRAINT dropped_calls_key PRIMARY KEY (key_id, month, account_id, entry_id)
  );
  CREATE INDEX dropped_calls_by_account ON dropped_calls (account_id);

  -- What they used of the budgets that they counted in: a week may have calls of both kinds.
  CREATE TABLE dropped_budget_use (
    key_id       text NOT NULL,
    period       text NOT NULL,
    period_start date NOT NULL,
    used         bigint NOT NULL,
    CONSTRAINT dropped_budget_use_key PRIMARY KEY (key_id, period, period_start)
  );
`;

const KEEP = `
  -- Adds up the calls of a month (its first day, in UTC) that are about to be dropped. Gives how many there are. Whoever
  -- calls it drops them in the same transaction, and lets nobody add to them meanwhile.
  CREATE FUNCTION keep_sums_of_calls(dropped date) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    first  CONSTANT timestamptz := dropped::timestamp AT TIME ZONE 'UTC';
    behind CONSTANT timestamptz := (dropped + interval '1 month') AT TIME ZONE 'UTC';
    number bigint;
  BEGIN
    INSERT INTO dropped_calls (key_id, month, account_id, entry_id, calls, cost, last_at)
    SELECT c.key_id, dropped, c.account_id, coalesce(e.id, ''), count(*), sum(c.cost), max(c.created_at)
      FROM calls c LEFT JOIN ledger_entries e ON e.id = c.entry_id AND e.created_at >= behind
     WHERE c.created_at >= first AND c.created_at < behind
     GROUP BY 1, 3, 4;

    INSERT INTO dropped_budget_use AS d (key_id, period, period_start, used)
    SELECT c.key_id, p.period, p.start, sum(c.cost)
      FROM calls c,
           LATERAL (VALUES ('day', c.budget_day), ('week', c.budget_week), ('month', c.budget_month)) AS p (period, start)
     WHERE c.created_at >= first AND c.created_at < behind AND p.start IS NOT NULL
     GROUP BY 1, 2, 3
    ON CONFLICT ON CONSTRAINT dropped_budget_use_key DO UPDATE SET used = d.used + excluded.used;

    SELECT coalesce(sum(d.calls), 0) INTO number FROM dropped_calls d WHERE d.month = dropped;
    RETURN number;
  END $$;
`;
