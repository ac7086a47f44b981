import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Organizations, their teams and members, and the budgets of these. */
export class CreateOrganizations20261128200000 implements MigrationInterface {
  readonly name = 'CreateOrganizations20261128200000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ORGANIZATIONS, MEMBERS, INVITATIONS, OWNERS_OF_KEYS, BUDGETS, CALLS])
      await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const ORGANIZATIONS = `
  -- An organization is an account that nobody signs in to: its wallet, keys and calls are stored like those of a person.
  ALTER TABLE accounts ADD COLUMN kind text NOT NULL DEFAULT 'person',
    ADD CONSTRAINT account_kind_is_known CHECK (kind IN ('person', 'organization'));

  -- Defaults for new members: their budgets in nano-dollars and their number of keys; null: unlimited. Its name is that of
  -- the account. offered_to: the member who may accept the ownership.
  CREATE TABLE organizations (
    id             text PRIMARY KEY CONSTRAINT organization_is_account REFERENCES accounts (id),
    quota          bigint,
    daily_budget   bigint,
    weekly_budget  bigint,
    monthly_budget bigint,
    max_keys       integer,
    offered_to     text,
    offered_at     timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT organization_defaults_are_not_negative
      CHECK (quota >= 0 AND daily_budget >= 0 AND weekly_budget >= 0 AND monthly_budget >= 0 AND max_keys >= 0),
    CONSTRAINT organization_offer_is_whole CHECK (num_nulls(offered_to, offered_at) IN (0, 2))
  );

  ALTER TABLE sessions ADD COLUMN organization_id text;
`;

const MEMBERS = `
  -- A team narrows what its members may use; null: no restriction. quota and budgets: of all its members together.
  -- Deleted teams keep their row for their calls.
  CREATE TABLE teams (
    id              text PRIMARY KEY,
    organization_id text NOT NULL CONSTRAINT team_belongs_to_organization REFERENCES organizations (id),
    name            text NOT NULL,
    state           text NOT NULL DEFAULT 'enabled',
    models          text[],
    groups          text[],
    networks        text[],
    quota           bigint,
    daily_budget    bigint,
    weekly_budget   bigint,
    monthly_budget  bigint,
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT team_state_is_known CHECK (state IN ('enabled', 'deleted')),
    CONSTRAINT team_budget_is_not_negative
      CHECK (quota >= 0 AND daily_budget >= 0 AND weekly_budget >= 0 AND monthly_budget >= 0),
    CONSTRAINT team_is_of_organization UNIQUE (organization_id, id)
  );
  CREATE UNIQUE INDEX team_name_is_unique ON teams (organization_id, lower(name)) WHERE state = 'enabled';

  -- A person who left keeps the row, for calls and for returning. role_source, team_source: who assigned them; a sign-in
  -- provider never replaces a manual assignment.
  CREATE TABLE members (
    id              text PRIMARY KEY,
    organization_id text NOT NULL CONSTRAINT member_belongs_to_organization REFERENCES organizations (id),
    account_id      text NOT NULL CONSTRAINT member_is_account REFERENCES accounts (id),
    role            text NOT NULL,
    role_source     text NOT NULL DEFAULT 'manual',
    team_id         text,
    team_source     text NOT NULL DEFAULT 'manual',
    state           text NOT NULL DEFAULT 'active',
    quota           bigint,
    daily_budget    bigint,
    weekly_budget   bigint,
    monthly_budget  bigint,
    max_keys        integer,
    version         integer NOT NULL DEFAULT 1,
    joined_at       timestamptz NOT NULL DEFAULT now(),
    left_at         timestamptz,
    CONSTRAINT member_role_is_known CHECK (role IN ('owner', 'admin', 'billing', 'member', 'viewer')),
    CONSTRAINT member_state_is_known CHECK (state IN ('active', 'left')),
    CONSTRAINT member_sources_are_known
      CHECK (role_source IN ('manual', 'provider') AND team_source IN ('manual', 'provider')),
    CONSTRAINT member_budget_is_not_negative
      CHECK (quota >= 0 AND daily_budget >= 0 AND weekly_budget >= 0 AND monthly_budget >= 0 AND max_keys >= 0),
    CONSTRAINT member_is_in_team_of_organization
      FOREIGN KEY (organization_id, team_id) REFERENCES teams (organization_id, id),
    CONSTRAINT member_is_unique UNIQUE (organization_id, account_id)
  );
  CREATE INDEX members_by_account ON members (account_id);
  CREATE INDEX members_by_team ON members (team_id) WHERE team_id IS NOT NULL;
  CREATE UNIQUE INDEX organization_has_one_owner ON members (organization_id) WHERE role = 'owner' AND state = 'active';
`;

const INVITATIONS = `
  -- The mailed link is a verification with the purpose 'join' and the invitation as its subject.
  CREATE TABLE member_invitations (
    id              text PRIMARY KEY,
    organization_id text NOT NULL CONSTRAINT member_invitation_is_of_organization REFERENCES organizations (id),
    email           text NOT NULL,
    role            text NOT NULL,
    team_id         text,
    invited_by      text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    CONSTRAINT member_invitation_role_is_known CHECK (role IN ('admin', 'billing', 'member', 'viewer')),
    CONSTRAINT member_invitation_is_to_team_of_organization
      FOREIGN KEY (organization_id, team_id) REFERENCES teams (organization_id, id),
    CONSTRAINT member_invitation_is_unique UNIQUE (organization_id, email)
  );
  ALTER TABLE verifications DROP CONSTRAINT verification_purpose_is_known,
    ADD CONSTRAINT verification_purpose_is_known
      CHECK (purpose IN ('register', 'confirm', 'change', 'reset', 'invite', 'join'));
`;

const OWNERS_OF_KEYS = `
  -- Keys of an organization: account_id is the organization; member_id is null for service keys. team_id: the member's
  -- team, or the one that a service key was given.
  ALTER TABLE api_keys ADD COLUMN member_id text CONSTRAINT key_belongs_to_member REFERENCES members (id),
    ADD COLUMN team_id text CONSTRAINT key_is_of_team REFERENCES teams (id);
  CREATE INDEX api_keys_by_member ON api_keys (member_id) WHERE member_id IS NOT NULL;
  CREATE INDEX api_keys_by_team ON api_keys (team_id) WHERE team_id IS NOT NULL;
`;

const BUDGETS = `
  -- Budgets of keys, members and teams. Every call of a member or team counts in its day, week, month and lifetime, whether
  -- limited or not; a call of a key only where the key has a budget. A lifetime starts at -infinity.
  ALTER TABLE key_budgets RENAME TO budgets;
  ALTER TABLE budgets RENAME COLUMN key_id TO holder_id;
  ALTER TABLE budgets RENAME CONSTRAINT key_budget_key TO budget_key;
  ALTER TABLE budgets RENAME CONSTRAINT key_budget_used_is_not_negative TO budget_used_is_not_negative;
  ALTER TABLE budgets RENAME CONSTRAINT key_budget_held_is_not_negative TO budget_held_is_not_negative;
  ALTER TABLE budgets RENAME CONSTRAINT key_budget_use_is_within_limit TO budget_use_is_within_limit;
  ALTER TABLE budgets DROP CONSTRAINT key_budget_belongs_to_key, DROP CONSTRAINT key_budget_period_is_known,
    ADD CONSTRAINT budget_period_is_known CHECK (period IN ('day', 'week', 'month', 'lifetime'));
  ALTER TABLE dropped_budget_use RENAME COLUMN key_id TO holder_id;
  DROP FUNCTION IF EXISTS open_key_budgets(text[]);
  DROP FUNCTION IF EXISTS current_budgets(text);
`;

const CALLS = `
  -- The member and team that a call counts for, and the day (in UTC) whose day, week and month it counts in.
  ALTER TABLE open_calls ADD COLUMN member_id text, ADD COLUMN team_id text, ADD COLUMN counted_on date;
  ALTER TABLE calls ADD COLUMN member_id text, ADD COLUMN team_id text, ADD COLUMN counted_on date;

  -- The parts of an organization's wallet line of kind 'calls', by member and team; '' for calls without one.
  CREATE TABLE ledger_line_parts (
    entry_id   text NOT NULL CONSTRAINT ledger_line_part_belongs_to_entry REFERENCES ledger_entries (id),
    account_id text NOT NULL,
    member_id  text NOT NULL,
    team_id    text NOT NULL,
    amount     bigint NOT NULL,
    CONSTRAINT ledger_line_part_is_not_zero CHECK (amount <> 0),
    CONSTRAINT ledger_line_part_key PRIMARY KEY (entry_id, account_id, member_id, team_id)
  );
  CREATE INDEX ledger_line_parts_by_member ON ledger_line_parts (account_id, member_id);
  CREATE TRIGGER ledger_line_parts_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_line_parts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();
`;
