import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What proves that an address is somebody's, accounts that wait for that proof, invitations, and counts of tries. */
export class CreateVerifications20261122130100 implements MigrationInterface {
  readonly name = 'CreateVerifications20261122130100';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ACCOUNTS, VERIFICATIONS, REGISTRATIONS, THROTTLES]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const ACCOUNTS = `
  -- Without a password: whoever was entered by the operator and has not chosen one yet. Nobody can sign in with none.
  ALTER TABLE accounts ALTER COLUMN password_hash DROP NOT NULL;

  -- Addresses that a starting credit was given for, or that were verified by an account that has had its own: SHA-256 of
  -- the address in the form in which all its spellings are alike. Outlives the account.
  CREATE TABLE starting_credits (
    address_hash bytea PRIMARY KEY,
    granted_at   timestamptz NOT NULL DEFAULT now()
  );
`;

const VERIFICATIONS = `
  -- A code and a link that were mailed. Only hashes of both are here: of the code under SECRET_KEY, because six digits
  -- are soon guessed; of the link's token, which is long, a plain SHA-256. Without a code: there is only a link.
  -- subject: whose address it is, an account or a registration. A new mail replaces the one before.
  CREATE TABLE verifications (
    id         text PRIMARY KEY,
    purpose    text NOT NULL,
    subject    text NOT NULL,
    email      text NOT NULL,
    code_hash  bytea,
    token_hash bytea NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    sent_at    timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz,
    CONSTRAINT verification_purpose_is_known CHECK (purpose IN ('register', 'confirm', 'change', 'reset', 'invite')),
    CONSTRAINT verification_is_the_latest_of_its_subject UNIQUE (purpose, subject),
    CONSTRAINT verification_token_is_unique UNIQUE (token_hash)
  );
  CREATE INDEX verifications_by_expiry ON verifications (expires_at);
`;

const REGISTRATIONS = `
  -- What lets somebody register where that takes an invitation. Only the hash of the code is here.
  CREATE TABLE invitations (
    id         text PRIMARY KEY,
    code_hash  bytea NOT NULL,
    note       text NOT NULL DEFAULT '',
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz,
    used_by    text CONSTRAINT invitation_was_used_by_account REFERENCES accounts (id),
    CONSTRAINT invitation_is_unique UNIQUE (code_hash),
    CONSTRAINT invitation_is_used_whole_or_not CHECK (num_nulls(used_at, used_by) IN (0, 2))
  );

  -- Accounts to be, until their address is verified. There is one for an address that has an account already, too: it
  -- looks the same and can never be verified. visit_hash: SHA-256 of the cookie of the browser that registered.
  CREATE TABLE registrations (
    id            text PRIMARY KEY,
    visit_hash    bytea NOT NULL,
    email         text NOT NULL,
    name          text NOT NULL,
    password_hash text NOT NULL,
    invitation_id text CONSTRAINT registration_has_invitation REFERENCES invitations (id),
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT registration_visit_is_unique UNIQUE (visit_hash)
  );
  CREATE INDEX registrations_by_age ON registrations (created_at);
`;

const THROTTLES = `
  -- How often something was tried lately, by SHA-256 of what and who. Not worth the log: a crash forgets it.
  -- strikes: how often in a row it was blocked; each block is longer than the one before.
  CREATE UNLOGGED TABLE throttles (
    key           bytea PRIMARY KEY,
    hits          integer NOT NULL,
    strikes       integer NOT NULL DEFAULT 0,
    blocked_until timestamptz,
    expires_at    timestamptz NOT NULL
  );
  CREATE INDEX throttles_by_expiry ON throttles (expires_at);
`;
