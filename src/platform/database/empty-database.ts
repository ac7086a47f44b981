import type pg from 'pg';
import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { migrations } from '../../../migrations/index.js';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import { dataSourceOptions } from './data-source.js';
import { DatabaseUnusable } from './database.errors.js';

/**
 * Creates the schema with these migrations in an empty database, then runs `fill` on the same session, all in one
 * transaction. A service that starts meanwhile waits.
 * @throws DatabaseUnusable when the database is not empty
 */
export async function fillEmptyDatabase<T>(
  url: string,
  names: readonly string[],
  fill: (session: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const chosen = migrations.filter(({ name }) => names.includes(name));
  const dataSource = await new DataSource({ ...dataSourceOptions(url), migrations: chosen }).initialize();
  const runner = dataSource.createQueryRunner();
  try {
    // It may take hours, regardless of the role's timeouts.
    await runner.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    await runner.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    await refuseUnlessEmpty(runner);
    return await inTransaction(runner, async () => {
      await build(dataSource, runner);
      return fill(await sessionOf(runner));
    });
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]).catch(() => undefined);
    await runner.release();
    await dataSource.destroy();
  }
}

/** Objects of extensions do not count. */
const WHAT_IS_THERE = `
  SELECT c.relname AS name FROM pg_class c
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
   ORDER BY 1`;

async function refuseUnlessEmpty(runner: QueryRunner): Promise<void> {
  const found: readonly { readonly name: string }[] = await runner.query(WHAT_IS_THERE);
  if (found.length === 0) return;
  const some = found.slice(0, 3).map(({ name }) => name);
  const others = found.length > some.length ? ` and ${found.length - some.length} more` : '';
  throw new DatabaseUnusable(
    `The database is not empty (tables: ${some.join(', ')}${others}). Backups are restored only into an empty database. Choose another DATA_DIR or DATABASE_URL.`,
  );
}

async function inTransaction<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  await runner.startTransaction();
  try {
    const result = await work();
    await runner.commitTransaction();
    return result;
  } catch (error) {
    // The server has already rolled back a lost session.
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

async function build(dataSource: DataSource, runner: QueryRunner): Promise<void> {
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'none'; // it is in one already
  await executor.executePendingMigrations();
}

async function sessionOf(runner: QueryRunner): Promise<pg.ClientBase> {
  const session: pg.PoolClient = await runner.connect();
  return session;
}
