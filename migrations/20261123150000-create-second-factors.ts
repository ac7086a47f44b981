import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is asked for beside the password, and sign-ins that wait for it. */
export class CreateSecondFactors20261123150000 implements MigrationInterface {
  readonly name = 'CreateSecondFactors20261123150000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [FACTORS, RECOVERY_CODES, PENDING]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const FACTORS = `
  -- Accounts that need a code of an app beside their password. sealed_secret: what the app makes codes from, under
  -- SECRET_KEY. last_step: the time step (of 30 s) of the newest code that was accepted: it and those before are used up.
  CREATE TABLE second_factors (
    account_id    text PRIMARY KEY CONSTRAINT second_factor_belongs_to_account REFERENCES accounts (id),
    sealed_secret text NOT NULL,
    last_step     bigint NOT NULL,
    turned_on_at  timestamptz NOT NULL
  );
`;

const RECOVERY_CODES = `
  -- Codes for whoever has lost the app; each works once. code_hash: SHA-256 of 120 random bits, which nobody can guess,
  -- and not under SECRET_KEY: they are what is left when that one was lost.
  CREATE TABLE recovery_codes (
    account_id text NOT NULL
      CONSTRAINT recovery_code_belongs_to_second_factor REFERENCES second_factors (account_id) ON DELETE CASCADE,
    code_hash  bytea NOT NULL,
    used_at    timestamptz,
    CONSTRAINT recovery_code_key PRIMARY KEY (account_id, code_hash)
  );
`;

const PENDING = `
  -- Browsers whose password was right, and whose code is still to come. visit_hash: SHA-256 of what the browser is known
  -- by. kept: whether it is to stay signed in. next: where it wanted to go. Not worth the log: a crash forgets it.
  CREATE UNLOGGED TABLE pending_sign_ins (
    visit_hash bytea PRIMARY KEY,
    account_id text NOT NULL,
    kept       boolean NOT NULL,
    next       text NOT NULL,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX pending_sign_ins_by_account ON pending_sign_ins (account_id);
  CREATE INDEX pending_sign_ins_by_end ON pending_sign_ins (expires_at);
`;
