import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The settings have a section more: how users pay. */
export class KeepPaymentSettings20261123160000 implements MigrationInterface {
  readonly name = 'KeepPaymentSettings20261123160000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SECTIONS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const SECTIONS = `
  ALTER TABLE settings
    DROP CONSTRAINT setting_section_is_known,
    ADD CONSTRAINT setting_section_is_known CHECK (section IN ('site', 'signUp', 'mail', 'payment', 'retention'));
`;
