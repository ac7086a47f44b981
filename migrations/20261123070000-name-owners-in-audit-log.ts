import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose a thing is that was changed, so that an account's keys are found with it. */
export class NameOwnersInAuditLog20261123070000 implements MigrationInterface {
  readonly name = 'NameOwnersInAuditLog20261123070000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(OWNERS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const OWNERS = `
  -- The account that the object belongs to; null: to none, or the change is from before this was recorded, since history
  -- is not written again.
  ALTER TABLE audit_entries ADD COLUMN object_owner text;
  CREATE INDEX audit_entries_by_owner ON audit_entries (object_owner, id) WHERE object_owner IS NOT NULL;
`;
