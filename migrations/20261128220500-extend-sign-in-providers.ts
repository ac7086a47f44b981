import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Assignments by claims, sessions that a provider can end, step-up at a provider, and the end of password sign-in. */
export class ExtendSignInProviders20261128220500 implements MigrationInterface {
  readonly name = 'ExtendSignInProviders20261128220500';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [RULES, SOURCES, SESSIONS, ATTEMPTS, LOGOUT_TOKENS, PASSWORD_WINDOW, MEMBERS])
      await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const RULES = `
  -- scopes: requested in addition to those of every sign-in. rules: in order, see ClaimRule.
  ALTER TABLE sign_in_providers
    ADD COLUMN scopes text NOT NULL DEFAULT '',
    ADD COLUMN rules jsonb NOT NULL DEFAULT '[]';
`;

const SOURCES = `
  -- 'manual', 'provider:<name>', or null: never assigned. Providers change only what is not manual.
  ALTER TABLE accounts
    ADD COLUMN role_source text
      CONSTRAINT role_source_is_known CHECK (role_source = 'manual' OR role_source LIKE 'provider:%'),
    ADD COLUMN group_source text
      CONSTRAINT group_source_is_known CHECK (group_source = 'manual' OR group_source LIKE 'provider:%');
  UPDATE accounts SET role_source = CASE WHEN role = 'admin' THEN 'manual' END,
                      group_source = CASE WHEN group_name IS NOT NULL THEN 'manual' END
   WHERE role = 'admin' OR group_name IS NOT NULL;
`;

const SESSIONS = `
  -- Sign-ins with a provider, for logout on either side. sid: the provider's ID of its session. sealed_id_token: the
  -- hint of which session to end there, encrypted with SECRET_KEY. Whatever began with it ends with it; on its own, it
  -- expires after the last session that it can begin.
  CREATE TABLE provider_sessions (
    id              text PRIMARY KEY,
    provider        text NOT NULL,
    issuer          text NOT NULL,
    subject         text NOT NULL,
    sid             text,
    sealed_id_token text NOT NULL,
    expires_at      timestamptz NOT NULL
  );
  CREATE INDEX provider_sessions_by_subject ON provider_sessions (issuer, subject);
  CREATE INDEX provider_sessions_by_end ON provider_sessions (expires_at);

  ALTER TABLE sessions ADD COLUMN provider_session_id text
    CONSTRAINT session_began_with_provider_session REFERENCES provider_sessions (id) ON DELETE CASCADE;
  CREATE INDEX sessions_by_provider_session ON sessions (provider_session_id) WHERE provider_session_id IS NOT NULL;
  ALTER TABLE pending_sign_ins ADD COLUMN provider_session_id text
    CONSTRAINT pending_sign_in_began_with_provider_session REFERENCES provider_sessions (id) ON DELETE CASCADE;

  -- assignments: by the claims at sign-in, see MappedAssignments.
  DELETE FROM pending_identities;
  ALTER TABLE pending_identities
    ADD COLUMN provider_session_id text NOT NULL
      CONSTRAINT pending_identity_began_with_provider_session REFERENCES provider_sessions (id) ON DELETE CASCADE,
    ADD COLUMN assignments jsonb NOT NULL;
`;

const ATTEMPTS = `
  -- purpose: 'sign-in', 'confirm' (a recent sign-in) or 'try' (shows claims). session_id: of the last two.
  DELETE FROM provider_attempts;
  ALTER TABLE provider_attempts
    ADD COLUMN purpose text NOT NULL,
    ADD COLUMN session_id text,
    ADD COLUMN begun_at timestamptz NOT NULL;
`;

const LOGOUT_TOKENS = `
  -- Accepted logout tokens, until they expire. token_hash: SHA-256 of issuer and jti.
  CREATE TABLE logout_tokens (
    token_hash bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX logout_tokens_by_end ON logout_tokens (expires_at);
`;

const PASSWORD_WINDOW = `
  -- One row: until when the command line allows sign-in with a password although the setting turns it off.
  CREATE TABLE password_window (
    is_single boolean PRIMARY KEY DEFAULT true CONSTRAINT password_window_is_single CHECK (is_single),
    ends_at   timestamptz NOT NULL
  );
`;

const MEMBERS = `
  -- The provider that assigned the membership: only it withdraws it.
  ALTER TABLE members ADD COLUMN provider text;
`;
