import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings of organizations; their bills, which are read by period; invitations, which every page asks for. */
export class KeepOrganizationSettings20261128220000 implements MigrationInterface {
  readonly name = 'KeepOrganizationSettings20261128220000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SECTIONS);
    await runner.query(BILLS);
    await runner.query(INVITATIONS);
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

const INVITATIONS = `CREATE INDEX member_invitations_by_email ON member_invitations (email)`;
