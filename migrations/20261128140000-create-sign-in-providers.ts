import type { MigrationInterface, QueryRunner } from 'typeorm';

/** OpenID Connect providers, the accounts that sign in with them, and sign-ins on their way. */
export class CreateSignInProviders20261128140000 implements MigrationInterface {
  readonly name = 'CreateSignInProviders20261128140000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [PROVIDERS, IDENTITIES, ATTEMPTS, PENDING]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const PROVIDERS = `
  -- sealed_secret: the client secret, encrypted with SECRET_KEY. links_by_email: whether a verified email claim signs in
  -- to the account that has the address. revision: detects concurrent changes.
  CREATE TABLE sign_in_providers (
    name           text PRIMARY KEY,
    label          text NOT NULL,
    issuer         text NOT NULL,
    client_id      text NOT NULL,
    sealed_secret  text NOT NULL,
    links_by_email boolean NOT NULL,
    revision       integer NOT NULL DEFAULT 1,
    created_at     timestamptz NOT NULL
  );
`;

const IDENTITIES = `
  -- A user of a provider is its issuer and subject, never an email address. email: for display only.
  CREATE TABLE linked_identities (
    id           text PRIMARY KEY,
    account_id   text NOT NULL CONSTRAINT identity_belongs_to_account REFERENCES accounts (id),
    issuer       text NOT NULL,
    subject      text NOT NULL,
    email        text,
    linked_at    timestamptz NOT NULL,
    last_used_at timestamptz,
    CONSTRAINT identity_belongs_to_one_account UNIQUE (issuer, subject)
  );
  CREATE INDEX linked_identities_by_account ON linked_identities (account_id);
`;

const ATTEMPTS = `
  -- Browsers at a provider. state_hash: SHA-256 of the state, from which nonce and PKCE verifier are derived.
  -- visit_hash: SHA-256 of the browser's form token. Unlogged: after a crash, users start again.
  CREATE UNLOGGED TABLE provider_attempts (
    state_hash bytea PRIMARY KEY,
    visit_hash bytea NOT NULL,
    provider   text NOT NULL,
    next       text NOT NULL,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX provider_attempts_by_end ON provider_attempts (expires_at);
`;

const PENDING = `
  -- Identities without an account, until the browser's user confirms a new account or the link to theirs.
  CREATE UNLOGGED TABLE pending_identities (
    visit_hash     bytea PRIMARY KEY,
    provider       text NOT NULL,
    issuer         text NOT NULL,
    subject        text NOT NULL,
    email          text,
    email_verified boolean NOT NULL,
    name           text NOT NULL,
    next           text NOT NULL,
    expires_at     timestamptz NOT NULL
  );
  CREATE INDEX pending_identities_by_end ON pending_identities (expires_at);
`;
