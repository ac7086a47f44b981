import { jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { DataSource, type QueryRunner } from 'typeorm';
import { AppModule } from '../../src/app/boot.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { compileOn } from '../support/modules.js';

/** Constraints and indexes are written in the migrations alone, where their names read as sentences. */
const OF_MIGRATIONS_ALONE = /DROP CONSTRAINT|DROP INDEX/;

/** TypeORM reads a schema with many queries at once on one connection, which pg is going to refuse: here each waits. */
function inTurn(runner: QueryRunner): QueryRunner {
  const ask: (...requested: Parameters<QueryRunner['query']>) => Promise<unknown> = runner.query.bind(runner);
  let last: Promise<unknown> = Promise.resolve();
  jest.spyOn(runner, 'query').mockImplementation((...requested) => (last = last.then(() => ask(...requested))));
  return runner;
}

/** What TypeORM would change for the schema to be what the entities say. */
async function changesIn(sql: DataSource): Promise<readonly string[]> {
  const made = jest.spyOn(sql, 'createQueryRunner').mockReturnValue(inTurn(sql.createQueryRunner()));
  const { upQueries } = await sql.driver.createSchemaBuilder().log();
  made.mockRestore();
  return upQueries.map(({ query }) => query);
}

describe('the schema', () => {
  let database: TestDatabase;
  let app: TestingModule;
  beforeEach(async () => {
    database = await freshDatabase();
    app = await compileOn(database, { imports: [AppModule] });
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('is what the entities say: tables, columns, types, defaults', async () => {
    const sql = app.get(DataSource);
    expect(sql.entityMetadatas.map(({ tableName }) => tableName).toSorted()).toEqual([
      'accounts',
      'allowance_months',
      'allowances',
      'api_keys',
      'audit_entries',
      'channel_cost_versions',
      'channels',
      'form_posts',
      'groups',
      'ledger_entries',
      'ledger_lines',
      'models',
      'price_versions',
      'redemption_codes',
      'sessions',
      'usual_limits',
      'wallets',
    ]);
    expect((await changesIn(sql)).filter((query) => !OF_MIGRATIONS_ALONE.test(query))).toEqual([]);
    // Proof that a difference would be seen.
    await sql.query('ALTER TABLE accounts ALTER COLUMN name DROP NOT NULL');
    expect((await changesIn(sql)).join()).toContain('"accounts"');
  });

  it('has nothing but rows for a backup to hold: no sequence but that of the list of migrations, and no view', async () => {
    const others = await app
      .get(DataSource)
      .query(
        `SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('S', 'v', 'm', 'f')`,
      );
    expect(others).toEqual([{ relname: 'migrations_id_seq' }]);
  });

  it('has partitions for this month and three months ahead, and none that takes just anything', async () => {
    const sql = app.get(DataSource);
    const partitions: { name: string; bound: string }[] = await sql.query(
      `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
        WHERE inhparent = 'calls'::regclass ORDER BY 1`,
    );
    expect(partitions).toHaveLength(4);
    expect(partitions.filter(({ bound }) => bound === 'DEFAULT')).toEqual([]);
  });
});
