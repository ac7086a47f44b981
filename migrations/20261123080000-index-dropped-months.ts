import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The last month that was dropped is asked for by every page of calls. */
export class IndexDroppedMonths20261123080000 implements MigrationInterface {
  readonly name = 'IndexDroppedMonths20261123080000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX dropped_calls_by_month ON dropped_calls (month)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}
