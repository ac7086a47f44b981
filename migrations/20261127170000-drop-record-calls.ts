import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `settle_calls` writes the rows itself: a call of another function was a tenth of a settlement. */
export class DropRecordCalls20261127170000 implements MigrationInterface {
  readonly name = 'DropRecordCalls20261127170000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'DROP FUNCTION record_calls(settlement[], jsonb[], json[], attempt[], bigint[], text[], text, date[], date[], date[])',
    );
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}
