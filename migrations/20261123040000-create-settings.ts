import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators set on pages, beside what the environment says. */
export class CreateSettings20261123040000 implements MigrationInterface {
  readonly name = 'CreateSettings20261123040000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SETTINGS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const SETTINGS = `
  -- A row for each section that somebody has saved. value: its fields by name; a secret among them is sealed.
  -- revision: 1 when first saved, and one more each time: whoever saves says which one they saw.
  CREATE TABLE settings (
    section    text PRIMARY KEY,
    value      jsonb NOT NULL,
    revision   integer NOT NULL DEFAULT 1,
    changed_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT setting_section_is_known CHECK (section IN ('site', 'signUp', 'mail', 'retention')),
    CONSTRAINT setting_value_is_an_object CHECK (jsonb_typeof(value) = 'object'),
    CONSTRAINT setting_revision_is_positive CHECK (revision > 0)
  );
`;
