import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { migrations } from '../../../migrations/index.js';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import { applySqlFiles } from './sql-files.js';

/** Names of all migrations, in order. */
export const MIGRATION_NAMES: readonly string[] = migrations.map(({ name }) => name);

/**
 * Runs pending migrations, each in its own transaction, then applies changed SQL files. Logs one line for each.
 * Processes that start together take turns: the lock belongs to the migrating session, so it is released even if the
 * process dies.
 * @throws the error of the migration or file that failed; what ran before it stays
 */
export async function migrate(dataSource: DataSource, log: (line: string) => void): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'each';
    for (const { name } of await executor.executePendingMigrations()) log(`Migrated: ${name}.`);
    if (await hasOurSchema(runner)) await applySqlFiles(runner, log);
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]).catch(() => undefined);
    await runner.release();
  }
}

/** False after migrations of a newer version, whose functions must stay. */
async function hasOurSchema(runner: QueryRunner): Promise<boolean> {
  const applied: readonly { readonly name: string }[] = await runner.query('SELECT name FROM migrations');
  const names = new Set(applied.map(({ name }) => name));
  return names.size === MIGRATION_NAMES.length && MIGRATION_NAMES.every((name) => names.has(name));
}
