import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators change, and who of them did. */
export class CreateAuditLog20261123000000 implements MigrationInterface {
  readonly name = 'CreateAuditLog20261123000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(AUDIT_LOG);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const AUDIT_LOG = `
  -- A row for each change, written in its transaction. Names stand as they were then: what is renamed or deleted later
  -- keeps its history. actor_id: of the account; empty for the command line and the system.
  CREATE TABLE audit_entries (
    id          text PRIMARY KEY,
    created_at  timestamptz NOT NULL DEFAULT now(),
    actor_kind  text NOT NULL,
    actor_id    text NOT NULL,
    actor_name  text NOT NULL,
    ip          text NOT NULL,
    action      text NOT NULL,
    object_kind text NOT NULL,
    object_id   text NOT NULL,
    object_name text NOT NULL,
    lines       text[] NOT NULL,
    reason      text NOT NULL,
    CONSTRAINT audit_entry_actor_kind_is_known CHECK (actor_kind IN ('account', 'command-line', 'system'))
  );
  CREATE INDEX audit_entries_by_object ON audit_entries (object_kind, object_id, id);
  CREATE TRIGGER audit_entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_history();
`;
