import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Codes that are worth money once. */
export class CreateRedemptionCodes20261122120200 implements MigrationInterface {
  readonly name = 'CreateRedemptionCodes20261122120200';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CODES);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const CODES = `
  -- code_hash is the SHA-256 of the code; the code itself is shown once and kept nowhere.
  -- entry_id: what put its worth into the wallet of redeemed_by.
  CREATE TABLE redemption_codes (
    id          text PRIMARY KEY,
    code_hash   bytea NOT NULL,
    amount      bigint NOT NULL,
    note        text NOT NULL DEFAULT '',
    expires_at  timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now(),
    redeemed_at timestamptz,
    redeemed_by text CONSTRAINT redemption_code_went_to_account REFERENCES accounts (id),
    entry_id    text CONSTRAINT redemption_code_moved_money_by_entry REFERENCES ledger_entries (id),
    CONSTRAINT redemption_code_is_unique UNIQUE (code_hash),
    CONSTRAINT redemption_code_amount_is_positive CHECK (amount > 0),
    CONSTRAINT redemption_code_is_redeemed_whole_or_not CHECK (num_nulls(redeemed_at, redeemed_by, entry_id) IN (0, 3))
  );
`;
