import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose thresholds are looked at next, so that no look has to read those of everybody. */
export class LookAtAccountsInTurn20261123180000 implements MigrationInterface {
  readonly name = 'LookAtAccountsInTurn20261123180000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [LOOKS, RECHECKS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const LOOKS = `
  -- How far looks at thresholds have come; one row. moved_until: everybody whose money was moved before was looked at.
  -- looked_to: the last account whose turn it was. next_at: nobody looks before.
  CREATE TABLE alert_looks (
    one         boolean PRIMARY KEY DEFAULT true,
    moved_until timestamptz NOT NULL DEFAULT now(),
    looked_to   text NOT NULL DEFAULT '',
    next_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT alert_looks_are_one_row CHECK (one)
  );
  INSERT INTO alert_looks DEFAULT VALUES;
`;

const RECHECKS = `
  -- Accounts that changed what they are warned of, or a limit, since somebody looked: they do not wait for their turn. Once
  -- for each change, and without a key, so that nobody who writes one waits for anybody else.
  CREATE TABLE alert_rechecks (account_id text NOT NULL);

  CREATE FUNCTION recheck_alerts() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO alert_rechecks VALUES (NEW.account_id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER saved_thresholds_are_rechecked AFTER INSERT OR UPDATE ON alert_settings
    FOR EACH ROW EXECUTE FUNCTION recheck_alerts();
  -- Of none of these columns that calls write: a call pays nothing for it.
  CREATE TRIGGER changed_limits_are_rechecked
    AFTER UPDATE OF quota, daily_budget, weekly_budget, monthly_budget, expires_at, state ON api_keys
    FOR EACH ROW EXECUTE FUNCTION recheck_alerts();
`;
