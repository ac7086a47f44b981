import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The output limit of each call: explains why a response ended early. */
export class RecordOutputLimits20261127090000 implements MigrationInterface {
  readonly name = 'RecordOutputLimits20261127090000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMN);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/* In tokens, as requested; null: none was set, the body was not read, or the call is older. */
const COLUMN = `
  ALTER TABLE calls ADD COLUMN output_limit bigint;
  ALTER TYPE settlement ADD ATTRIBUTE output_limit bigint;
`;
