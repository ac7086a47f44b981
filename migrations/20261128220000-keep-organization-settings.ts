import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings of organizations, and their bills by member, which are read by period. */
export class KeepOrganizationSettings20261128220000 implements MigrationInterface {
  readonly name = 'KeepOrganizationSettings20261128220000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SECTIONS);
    await runner.query(BILLS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const SECTIONS = `
  ALTER TABLE settings
    DROP CONSTRAINT setting_section_is_known,
    ADD CONSTRAINT setting_section_is_known
      CHECK (section IN ('site', 'signUp', 'organizations', 'mail', 'payment', 'retention'));
`;

const BILLS = `
  DROP INDEX ledger_line_parts_by_member;
  -- IDs of entries sort by time.
  CREATE INDEX ledger_line_parts_by_entry ON ledger_line_parts (account_id, entry_id);
`;
