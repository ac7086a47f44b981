import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Browsers that are signed in, what their forms led to, and the time zone that people read their pages in. */
export class CreateSessions20261122130000 implements MigrationInterface {
  readonly name = 'CreateSessions20261122130000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [TIME_ZONE, SESSIONS, FORM_POSTS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const TIME_ZONE = `
  ALTER TABLE accounts ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';
`;

const SESSIONS = `
  -- token_hash is the SHA-256 of what the browser's cookie says; the token itself is kept nowhere. ip and user_agent are
  -- those of the last visit: they tell people which of their sessions is which.
  CREATE TABLE sessions (
    id           text PRIMARY KEY,
    token_hash   bytea NOT NULL,
    account_id   text NOT NULL CONSTRAINT session_belongs_to_account REFERENCES accounts (id),
    ip           text NOT NULL,
    user_agent   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    CONSTRAINT session_token_is_unique UNIQUE (token_hash)
  ) WITH (fillfactor = 70);
  CREATE INDEX sessions_by_account ON sessions (account_id);
  CREATE INDEX sessions_by_end ON sessions (expires_at);
`;

const FORM_POSTS = `
  -- A form that makes something, sent once: nonce is what the form carried, location where its result is shown;
  -- null while it is being made, or when whoever made it died over it.
  CREATE TABLE form_posts (
    account_id text NOT NULL CONSTRAINT form_post_belongs_to_account REFERENCES accounts (id),
    nonce      text NOT NULL,
    location   text,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT form_post_key PRIMARY KEY (account_id, nonce)
  );
  CREATE INDEX form_posts_by_time ON form_posts (created_at);
`;
