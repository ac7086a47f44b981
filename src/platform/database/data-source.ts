import { Logger } from '@nestjs/common';
import { DataSource, type Logger as TypeOrmLogger, MigrationExecutor, type QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../../migrations/index.js';
import { reasonOf } from '../shared/index.js';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import { DatabaseUnusable, isConnectionLost } from './database.errors.js';
import { POOL_SIZES, poolOptions } from './pools.js';

/** TypeORM's settings. The URL is passed to the driver as is: TypeORM's own parser drops parameters. */
export function dataSourceOptions(url: string): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    extra: { ...poolOptions(url, 'general'), max: POOL_SIZES.general },
    migrations: [...migrations],
    synchronize: false,
    logger: new QuietTypeOrmLogger(),
  };
}

/**
 * Connects and migrates.
 * @throws DatabaseUnusable when a migration fails, unless the connection was lost
 */
export async function openDataSource(dataSource: DataSource, log: (line: string) => void): Promise<DataSource> {
  await dataSource.initialize();
  try {
    await migrate(dataSource, log);
  } catch (error) {
    await dataSource.destroy();
    if (isConnectionLost(error)) throw error;
    throw new DatabaseUnusable(`Migration failed; later migrations were not run: ${reasonOf(error)}`, error);
  }
  return dataSource;
}

/**
 * Sends TypeORM's warnings to our log instead of stdout, which carries command line results. Errors reject and are
 * logged by the caller.
 */
export class QuietTypeOrmLogger implements TypeOrmLogger {
  private readonly logger = new Logger('TypeORM');

  log(level: 'log' | 'info' | 'warn', message: unknown): void {
    if (level === 'warn') this.logger.warn(String(message));
  }

  logQuery(): void {}
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
}

/** Names of all migrations, in order. */
export const MIGRATION_NAMES: readonly string[] = migrations.map(({ name }) => name);

/**
 * Runs pending migrations, each in its own transaction, then applies changed SQL files. Logs one line for all migrations
 * and one for all files.
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
    const applied = await executor.executePendingMigrations();
    if (applied.length > 0) log(`Migrated: ${rangeOf(applied.map(({ name }) => name))}.`);
    if (await hasOurSchema(runner)) await applySqlFiles(runner, log);
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]).catch(() => undefined);
    await runner.release();
  }
}

function rangeOf(names: readonly string[]): string {
  const [first = '', last = ''] = [names[0], names.at(-1)];
  return names.length === 1 ? first : `${names.length} migrations, ${first} to ${last}`;
}

/** False after migrations of a newer version, whose functions must stay. */
async function hasOurSchema(runner: QueryRunner): Promise<boolean> {
  const applied: readonly { readonly name: string }[] = await runner.query('SELECT name FROM migrations');
  const names = new Set(applied.map(({ name }) => name));
  return names.size === MIGRATION_NAMES.length && MIGRATION_NAMES.every((name) => names.has(name));
}

/** Functions and views, as repeatable statements. The build copies the folder. */
const FOLDER = join(import.meta.dirname, 'sql');

interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

const APPLIED = 'SELECT name, checksum FROM sql_checksums';
const RECORD = `
  INSERT INTO sql_checksums (name, checksum) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = now()`;

/**
 * Applies the SQL files that changed since they were last applied to this database, in one transaction, in order of name.
 * Logs them in one line.
 * @throws Error that names the file that failed; nothing is applied then
 */
export async function applySqlFiles(runner: QueryRunner, log: (line: string) => void): Promise<void> {
  const applied: readonly Pick<SqlFile, 'name' | 'checksum'>[] = await runner.query(APPLIED);
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const changed = sqlFiles().filter(({ name, checksum }) => checksums.get(name) !== checksum);
  if (changed.length === 0) return;
  await runner.startTransaction();
  try {
    for (const file of changed) await apply(runner, file);
    await runner.commitTransaction();
  } catch (error) {
    // If the session is lost, the server has rolled back already.
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
  log(`Applied: ${changed.map(({ name }) => name).join(', ')}.`);
}

async function apply(runner: QueryRunner, { name, text, checksum }: SqlFile): Promise<void> {
  try {
    await runner.query(text);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    throw new Error(`${name}: ${reasonOf(error)}`, { cause: error });
  }
  await runner.query(RECORD, [name, checksum]);
}

function sqlFiles(): readonly SqlFile[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    });
}
