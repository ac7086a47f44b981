import { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { migrations } from '../../../migrations/index.js';
import { reasonOf } from '../shared/index.js';
import { DatabaseUnusable } from './database.errors.js';
import { migrate } from './migrate.js';
import { isConnectionLost } from './outage.js';
import { POOL_SIZES, poolOptions } from './pools.js';
import { QuietTypeOrmLogger } from './typeorm-logger.js';

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
