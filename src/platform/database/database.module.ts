import { Global, Injectable, Logger, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config/index.js';
import { Metrics, MetricsModule } from '../metrics/index.js';
import { within } from '../shared/index.js';
import { isWorker } from '../workers/index.js';
import { dataSourceOptions, openDataSource } from './data-source.js';
import { DatabaseServer } from './database-server.js';
import { Notifications } from './notifications.js';
import { DatabasePools } from './pools.js';

/** Metrics of the connection pools. */
@Injectable()
export class DatabaseMetrics {
  constructor(metrics: Metrics, { admission, settlement, general }: DatabasePools, notifications: Notifications) {
    metrics.gauge(
      'database_connections',
      'Database connections by pool: open and idle.',
      ['pool', 'state'],
      (gauge) => {
        for (const [pool, { totalCount, idleCount }] of Object.entries({ admission, settlement, general })) {
          gauge.set({ pool, state: 'open' }, totalCount);
          gauge.set({ pool, state: 'idle' }, idleCount);
        }
      },
    );
    metrics.gauge('database_waiting', 'Statements waiting for a connection, by pool.', ['pool'], (gauge) => {
      for (const [pool, { waitingCount }] of Object.entries({ admission, settlement, general }))
        gauge.set({ pool }, waitingCount);
    });
    metrics.gauge(
      'database_listening',
      'Processes receiving change notifications; others use caches up to one second old.',
      [],
      (gauge) => gauge.set(Number(notifications.connected)),
    );
  }
}

const PING_MS = 1000;

@Injectable()
export class DatabaseHealth {
  constructor(private readonly pools: DatabasePools) {}

  /** True if the database answers within one second. Never rejects. */
  async ping(): Promise<boolean> {
    const response = this.pools.general.query('SELECT 1').then(
      () => true,
      () => false,
    );
    return (await within(response, PING_MS)) ?? false;
  }
}

/** A separate module, because TypeORM's module needs the server first. */
@Module({
  providers: [
    {
      provide: DatabaseServer,
      inject: [Config],
      useFactory: (config: Config) => DatabaseServer.use(config, isWorker ? 0 : 1),
    },
  ],
  exports: [DatabaseServer],
})
class DatabaseServerModule {}

const logger = new Logger('Database');
/** A pool waits for its last query, which never ends if the database has stopped responding. */
const CLOSE_MS = 5000;

const typeOrm = TypeOrmModule.forRootAsync({
  imports: [DatabaseServerModule],
  inject: [DatabaseServer],
  useFactory: (server: DatabaseServer) => ({
    ...dataSourceOptions(server.url),
    autoLoadEntities: true,
    // The server was already waited for.
    toRetry: () => false,
  }),
  dataSourceFactory: (options) => {
    if (options === undefined) throw new TypeError('TypeORM options are missing.');
    const dataSource = new DataSource(options);
    // Workers start after their primary has migrated.
    return isWorker ? dataSource.initialize() : openDataSource(dataSource, (line) => logger.log(line));
  },
});

/**
 * PostgreSQL for the whole program, migrated before anything is injected. Other modules must write what they hold in
 * `onModuleDestroy` or `beforeApplicationShutdown`: this module closes in `onApplicationShutdown`.
 */
@Global()
@Module({
  imports: [DatabaseServerModule, typeOrm, MetricsModule],
  providers: [
    {
      provide: DatabasePools,
      inject: [DatabaseServer, DataSource],
      useFactory: (server: DatabaseServer, dataSource: DataSource) => new DatabasePools(server.url, dataSource),
    },
    {
      provide: Notifications,
      inject: [DatabaseServer, DatabasePools],
      useFactory: async (server: DatabaseServer, pools: DatabasePools) => {
        const notifications = new Notifications(server.url, pools.general);
        await notifications.start();
        return notifications;
      },
    },
    DatabaseHealth,
    DatabaseMetrics,
  ],
  exports: [DatabasePools, Notifications, DatabaseHealth],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    private readonly server: DatabaseServer,
    private readonly dataSource: DataSource,
    private readonly pools: DatabasePools,
    private readonly notifications: Notifications,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.notifications.close();
    await within(this.pools.close(), CLOSE_MS);
    if (this.dataSource.isInitialized) await within(this.dataSource.destroy(), CLOSE_MS);
    await this.server.release();
  }
}
