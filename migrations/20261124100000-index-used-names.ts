import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which models and groups an account's calls are of is looked up name by name, in place of reading the sums of every
 * quarter of an hour for them.
 */
export class IndexUsedNames20261124100000 implements MigrationInterface {
  readonly name = 'IndexUsedNames20261124100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- All quarters of an hour with a name stand together. Rows of level "model" have no group, and the other way round; of
      -- those of level "few" each pair of names is one. Nobody is offered the names of all accounts together.
      CREATE INDEX usage_slots_by_name ON usage_slots (account_id, level, model, group_name, slot)
        WHERE account_id <> '' AND level IN ('model', 'group', 'few')`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}
