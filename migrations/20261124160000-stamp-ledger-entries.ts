import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the database took in an entry of the ledger: its id and its time are of the clock of whoever made it. */
export class StampLedgerEntries20261124160000 implements MigrationInterface {
  readonly name = 'StampLedgerEntries20261124160000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(STAMP);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const STAMP = `
  -- The default comes after the column: entries that are there already stay as they are, and have none.
  ALTER TABLE ledger_entries ADD COLUMN entered_at timestamptz;
  ALTER TABLE ledger_entries ALTER COLUMN entered_at SET DEFAULT clock_timestamp();
  -- One line for all calls that are settled together.
  CREATE INDEX ledger_entries_by_stamp ON ledger_entries (entered_at) WHERE entered_at IS NOT NULL;
  -- Else a third of all entries is thought to have any stamp that is asked for, and all of them are read.
  ANALYZE ledger_entries;
`;
