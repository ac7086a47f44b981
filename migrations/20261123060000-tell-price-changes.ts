import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who changed prices, when and why; prices that are taken back before they begin; and who may choose a group. */
export class TellPriceChanges20261123060000 implements MigrationInterface {
  readonly name = 'TellPriceChanges20261123060000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [VERSIONS, WITHDRAWALS, GROUPS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/**
 * Of the versions that there are already nobody knows who made them, nor when: their author and time stay NULL. Versions
 * of a model are counted from 1 in the order in which they were made; of the old ones that is told by their ids.
 */
const VERSIONS = `
  ALTER TABLE price_versions ADD COLUMN number integer, ADD COLUMN author text, ADD COLUMN reason text,
    ADD COLUMN created_at timestamptz;
  ALTER TABLE price_versions DISABLE TRIGGER price_versions_are_append_only;
  UPDATE price_versions SET number = counted.number
    FROM (SELECT id, row_number() OVER (PARTITION BY model ORDER BY id) AS number FROM price_versions) counted
   WHERE counted.id = price_versions.id;
  ALTER TABLE price_versions ENABLE TRIGGER price_versions_are_append_only;
  ALTER TABLE price_versions ALTER COLUMN number SET NOT NULL, ALTER COLUMN created_at SET DEFAULT clock_timestamp(),
    ADD CONSTRAINT price_versions_of_a_model_are_counted UNIQUE (model, number);
`;

/** Versions cannot be changed, so that one is taken back by a row of its own. One that has begun never is. */
const WITHDRAWALS = `
  CREATE TABLE price_withdrawals (
    version_id text PRIMARY KEY CONSTRAINT price_withdrawal_is_of_a_version REFERENCES price_versions (id),
    author     text,
    reason     text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE TRIGGER price_withdrawals_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON price_withdrawals
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();
`;

const GROUPS = `
  ALTER TABLE groups ADD COLUMN choice text NOT NULL DEFAULT 'everyone',
    ADD CONSTRAINT group_choice_is_known CHECK (choice IN ('everyone', 'assigned'));
`;
