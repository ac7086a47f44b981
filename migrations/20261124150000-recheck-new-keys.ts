import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A key may be made with something to warn of, such as an expiry within days: its account does not wait for its turn. */
export class RecheckNewKeys20261124150000 implements MigrationInterface {
  readonly name = 'RecheckNewKeys20261124150000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TRIGGER);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const TRIGGER = `
  -- Of none of these columns that calls write: a call pays nothing for it.
  CREATE OR REPLACE TRIGGER changed_limits_are_rechecked
    AFTER INSERT OR UPDATE OF quota, daily_budget, weekly_budget, monthly_budget, expires_at, state ON api_keys
    FOR EACH ROW EXECUTE FUNCTION recheck_alerts();
`;
