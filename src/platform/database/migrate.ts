import { type DataSource, MigrationExecutor } from 'typeorm';
import { ADVISORY_LOCKS } from './advisory-locks.js';

/**
 * Runs the migrations that have not run yet, each in its own transaction, and logs one line for each.
 * Processes that start together take turns. The lock belongs to the very session that migrates, so it is free again
 * exactly when the server is done with that session, however its process ended.
 * @throws the error of the migration that failed; what ran before it stays
 */
export async function migrate(dataSource: DataSource, log: (line: string) => void): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'each';
    for (const { name } of await executor.executePendingMigrations()) log(`Migrated: ${name}.`);
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]).catch(() => undefined);
    await runner.release();
  }
}
