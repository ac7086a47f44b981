import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Passkeys, and the challenges that browsers are to sign. Recovery codes no longer need an authenticator app. */
export class CreatePasskeys20261128210000 implements MigrationInterface {
  readonly name = 'CreatePasskeys20261128210000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [PASSKEYS, CHALLENGES, RECOVERY_CODES]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const PASSKEYS = `
  -- credential_id: chosen by the authenticator. public_key: COSE. counter: signatures that the authenticator has counted;
  -- 0: it does not count. transports: hints for browsers, such as "internal".
  CREATE TABLE passkeys (
    id            text PRIMARY KEY,
    account_id    text NOT NULL CONSTRAINT passkey_belongs_to_account REFERENCES accounts (id),
    credential_id bytea NOT NULL CONSTRAINT passkey_belongs_to_one_account UNIQUE,
    public_key    bytea NOT NULL,
    counter       bigint NOT NULL CONSTRAINT passkey_counter_is_unsigned CHECK (counter BETWEEN 0 AND 4294967295),
    transports    text[] NOT NULL,
    name          text NOT NULL,
    created_at    timestamptz NOT NULL,
    last_used_at  timestamptz
  );
  CREATE INDEX passkeys_by_account ON passkeys (account_id);
`;

const CHALLENGES = `
  -- challenge_hash: SHA-256 of the challenge. visit_hash: SHA-256 of the browser's form token. account_id: null before
  -- the account is known. Unlogged: after a crash, users start again.
  CREATE UNLOGGED TABLE passkey_challenges (
    challenge_hash bytea PRIMARY KEY,
    visit_hash     bytea NOT NULL,
    purpose        text NOT NULL,
    account_id     text,
    expires_at     timestamptz NOT NULL
  );
  CREATE INDEX passkey_challenges_by_end ON passkey_challenges (expires_at);
`;

const RECOVERY_CODES = `
  ALTER TABLE recovery_codes
    DROP CONSTRAINT recovery_code_belongs_to_second_factor,
    ADD CONSTRAINT recovery_code_belongs_to_account FOREIGN KEY (account_id) REFERENCES accounts (id);
`;
