import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators need of accounts: whose password is not their own yet, whose session is fresh, who was deleted. */
export class ExtendAccounts20261123030000 implements MigrationInterface {
  readonly name = 'ExtendAccounts20261123030000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ACCOUNTS, SESSIONS, CODES]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const ACCOUNTS = `
  -- password_is_temporary: somebody else has seen it, so that nothing but choosing another one is open with it.
  ALTER TABLE accounts ADD COLUMN password_is_temporary boolean NOT NULL DEFAULT false;
  -- A deleted account keeps its row, for its calls and its ledger, and nothing that says whose it was.
  ALTER TABLE accounts DROP CONSTRAINT account_state_is_known;
  ALTER TABLE accounts ADD CONSTRAINT account_state_is_known CHECK (state IN ('enabled', 'disabled', 'deleted'));
  ALTER TABLE accounts ADD CONSTRAINT account_deleted_is_nobodys
    CHECK (state <> 'deleted' OR (password_hash IS NULL AND verified_at IS NULL AND name = '' AND role = 'user'));
`;

const SESSIONS = `
  -- confirmed_at: when a password was last given in it.
  ALTER TABLE sessions ADD COLUMN confirmed_at timestamptz;
  UPDATE sessions SET confirmed_at = created_at;
  ALTER TABLE sessions ALTER COLUMN confirmed_at SET DEFAULT now(), ALTER COLUMN confirmed_at SET NOT NULL;
`;

const CODES = `
  -- batch_id: those that were made together; null: made before batches were noted. voided_at: worth nothing since.
  ALTER TABLE redemption_codes ADD COLUMN batch_id text, ADD COLUMN voided_at timestamptz;
  ALTER TABLE redemption_codes ADD CONSTRAINT redemption_code_is_redeemed_or_voided
    CHECK (num_nonnulls(redeemed_at, voided_at) <= 1);
  CREATE INDEX redemption_codes_by_batch ON redemption_codes (batch_id);
`;
