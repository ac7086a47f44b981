import type { MigrationInterface, QueryRunner } from 'typeorm';

/** From here on, functions and views are files in src/platform/database/sql, and migrations create neither. */
export class CreateSqlChecksums20261126120000 implements MigrationInterface {
  readonly name = 'CreateSqlChecksums20261126120000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CHECKSUMS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const CHECKSUMS = `
  -- The SQL files that were applied to this database. checksum: SHA-256 of the file, in hexadecimal digits.
  CREATE TABLE sql_checksums (
    name       text PRIMARY KEY,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  );
`;
