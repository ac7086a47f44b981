import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which state upstreams created for which account: only it may name that again, and only to the channel that made it. */
export class CreateUpstreamStates20261125200000 implements MigrationInterface {
  readonly name = 'CreateUpstreamStates20261125200000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [STATES, END_WITH_ACCOUNT]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const STATES = `
  -- ends_at: when the upstream ends it, where it says so. expires_at: then, or some time after the last use.
  -- No foreign keys: a channel may be removed, and an account's row is not to be locked at the end of a call.
  CREATE TABLE upstream_states (
    account_id    text NOT NULL,
    kind          text NOT NULL,
    id            text NOT NULL,
    channel_id    text NOT NULL,
    credential_id text,
    used_at       timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    ends_at       timestamptz,
    CONSTRAINT upstream_state_key PRIMARY KEY (account_id, kind, id)
  );
  CREATE INDEX upstream_states_by_use ON upstream_states (account_id, used_at);
  CREATE INDEX upstream_states_by_expiry ON upstream_states (expires_at);
`;

const END_WITH_ACCOUNT = `
  CREATE FUNCTION end_upstream_states() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM upstream_states WHERE account_id = NEW.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER account_ends_its_upstream_states AFTER UPDATE OF state ON accounts
    FOR EACH ROW WHEN (NEW.state = 'deleted') EXECUTE FUNCTION end_upstream_states();
`;
