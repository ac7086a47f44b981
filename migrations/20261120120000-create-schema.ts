import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Everything that people manage: accounts, wallets, keys, the catalog, channels, and the ledger behind the wallets. */
export class CreateSchema20261120120000 implements MigrationInterface {
  readonly name = 'CreateSchema20261120120000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ACCOUNTS, LEDGER, CATALOG, CHANNELS, KEYS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const ACCOUNTS = `
  CREATE TABLE accounts (
    id            text PRIMARY KEY,
    email         text NOT NULL,
    name          text NOT NULL DEFAULT '',
    password_hash text NOT NULL,
    role          text NOT NULL DEFAULT 'user',
    state         text NOT NULL DEFAULT 'enabled',
    group_name    text,
    verified_at   timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT account_email_is_lower_case CHECK (email = lower(email)),
    CONSTRAINT account_role_is_known CHECK (role IN ('user', 'admin')),
    CONSTRAINT account_state_is_known CHECK (state IN ('enabled', 'disabled')),
    CONSTRAINT account_email_is_unique UNIQUE (email)
  );

  -- What a user owns. House accounts (grants, revenue) have no row: they are sums of ledger lines, so no hot row exists.
  CREATE TABLE wallets (
    account_id text PRIMARY KEY CONSTRAINT wallet_belongs_to_account REFERENCES accounts (id),
    balance    bigint NOT NULL DEFAULT 0,
    held       bigint NOT NULL DEFAULT 0,
    holds      integer NOT NULL DEFAULT 0,
    owed       bigint NOT NULL DEFAULT 0,
    CONSTRAINT wallet_balance_is_not_negative CHECK (balance >= 0),
    CONSTRAINT wallet_held_is_not_negative CHECK (held >= 0),
    CONSTRAINT wallet_held_is_within_balance CHECK (held <= balance),
    CONSTRAINT wallet_holds_is_not_negative CHECK (holds >= 0),
    CONSTRAINT wallet_owed_is_not_negative CHECK (owed >= 0)
  ) WITH (fillfactor = 70);
`;

const LEDGER = `
  -- An entry says why money moved; its lines say between whom, in nano-dollars, and sum to zero. Calls that are settled
  -- together share one of the kind 'calls'; each of them names it.
  -- A line's ledger account is 'wallet:<account id>' or a house account: 'grants', 'revenue'.
  CREATE TABLE ledger_entries (
    id         text PRIMARY KEY,
    kind       text NOT NULL,
    reason     text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ledger_entry_kind_is_known CHECK (kind IN ('credit', 'debit', 'calls'))
  );

  CREATE TABLE ledger_lines (
    entry_id       text NOT NULL CONSTRAINT ledger_line_belongs_to_entry REFERENCES ledger_entries (id),
    ledger_account text NOT NULL,
    amount         bigint NOT NULL,
    CONSTRAINT ledger_line_is_not_zero CHECK (amount <> 0),
    CONSTRAINT ledger_line_key PRIMARY KEY (entry_id, ledger_account)
  );
  CREATE INDEX ledger_lines_by_account ON ledger_lines (ledger_account);

  CREATE FUNCTION refuse_change_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
  END $$;
  CREATE TRIGGER ledger_entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();
  CREATE TRIGGER ledger_lines_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_lines
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();
`;

const CATALOG = `
  CREATE TABLE groups (
    name        text PRIMARY KEY,
    multiplier  numeric(12,6) NOT NULL DEFAULT 1,
    description text NOT NULL DEFAULT '',
    enabled     boolean NOT NULL DEFAULT true,
    CONSTRAINT group_multiplier_is_not_negative CHECK (multiplier >= 0)
  );

  CREATE TABLE models (
    name              text PRIMARY KEY,
    display_name      text NOT NULL,
    owned_by          text NOT NULL,
    context_window    integer NOT NULL,
    max_output_tokens integer NOT NULL,
    groups            text[] NOT NULL,
    capabilities      jsonb NOT NULL DEFAULT '{}',
    enabled           boolean NOT NULL DEFAULT true,
    created_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT model_context_window_is_positive CHECK (context_window > 0),
    CONSTRAINT model_max_output_tokens_is_positive CHECK (max_output_tokens > 0)
  );

  -- What a model costs from a moment on. Never changed: a different price is a new row.
  -- pricing: { free, request_fee, effort_multipliers, tiers: [{ from_prompt_tokens, input, … }] }, decimals as strings.
  CREATE TABLE price_versions (
    id         text PRIMARY KEY,
    model      text NOT NULL CONSTRAINT price_version_belongs_to_model REFERENCES models (name),
    valid_from timestamptz NOT NULL,
    pricing    jsonb NOT NULL
  );
  CREATE INDEX price_versions_by_model ON price_versions (model, valid_from DESC);
  CREATE TRIGGER price_versions_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON price_versions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();

  -- One row. Raised by whatever changes groups, models, prices or channels; admission compares it with what a process used.
  CREATE TABLE catalog_state (
    only_row boolean PRIMARY KEY DEFAULT true,
    version  bigint NOT NULL DEFAULT 1,
    CONSTRAINT catalog_state_has_one_row CHECK (only_row)
  );
  INSERT INTO catalog_state DEFAULT VALUES;
  INSERT INTO groups (name) VALUES ('default');
`;

const CHANNELS = `
  -- An account at an upstream. credentials: [{ env } | { sealed }], sealed by AES-256-GCM under SECRET_KEY.
  -- models: { public name: [upstream names] }; timeouts: { connectMs, firstEventMs, idleMs, totalMs }.
  CREATE TABLE channels (
    id              text PRIMARY KEY,
    name            text NOT NULL,
    protocol        text NOT NULL,
    base_url        text NOT NULL,
    auth            text NOT NULL,
    query           jsonb NOT NULL DEFAULT '{}',
    credentials     jsonb NOT NULL DEFAULT '[]',
    models          jsonb NOT NULL,
    groups          text[] NOT NULL,
    tier            integer NOT NULL DEFAULT 1,
    weight          integer NOT NULL DEFAULT 100,
    max_concurrency integer,
    timeouts        jsonb NOT NULL,
    headers         jsonb NOT NULL DEFAULT '{}',
    flags           jsonb NOT NULL DEFAULT '{}',
    enabled         boolean NOT NULL DEFAULT true,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT channel_name_is_unique UNIQUE (name),
    CONSTRAINT channel_auth_is_known CHECK (auth IN ('bearer', 'x-api-key', 'api-key', 'none')),
    CONSTRAINT channel_weight_is_not_negative CHECK (weight >= 0)
  );
`;

const KEYS = `
  -- secret_hash is the SHA-256 of the secret; the secret itself is shown once and kept nowhere.
  -- version is raised by every change but use; admission compares it with what a process used.
  CREATE TABLE api_keys (
    id           text PRIMARY KEY,
    account_id   text NOT NULL CONSTRAINT key_belongs_to_account REFERENCES accounts (id),
    name         text NOT NULL,
    secret_hash  bytea NOT NULL,
    hint         text NOT NULL,
    state        text NOT NULL DEFAULT 'enabled',
    group_name   text,
    models       text[],
    expires_at   timestamptz,
    quota        bigint,
    used         bigint NOT NULL DEFAULT 0,
    held         bigint NOT NULL DEFAULT 0,
    version      integer NOT NULL DEFAULT 1,
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT key_secret_is_unique UNIQUE (secret_hash),
    CONSTRAINT key_state_is_known CHECK (state IN ('enabled', 'disabled', 'deleted')),
    CONSTRAINT key_used_is_not_negative CHECK (used >= 0),
    CONSTRAINT key_held_is_not_negative CHECK (held >= 0),
    CONSTRAINT key_use_is_within_quota CHECK (used + held <= quota)
  ) WITH (fillfactor = 70);
  CREATE INDEX keys_by_account ON api_keys (account_id);
`;
