import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Config } from '../config/index.js';
import { checkServer } from './check-server.js';
import { dataSourceOptions, openDataSource } from './data-source.js';
import { startEmbedded } from './embedded/index.js';

type Settings = Pick<Config, 'databaseUrl' | 'dataDir'>;

/** The database server of this process, checked and ready. */
export class DatabaseServer {
  private static readonly open = new Set<DatabaseServer>();
  private releasing: Promise<void> | undefined;

  private constructor(
    /** Includes the password: never log it. */
    readonly url: string,
    private readonly letGo: () => Promise<void>,
  ) {
    DatabaseServer.open.add(this);
  }

  /**
   * The server of DATABASE_URL, else the embedded one, started or adopted.
   * @param processes number of processes that need connections; 0 skips the check
   * @throws DatabaseUnusable
   */
  static async use(config: Settings, processes = 1): Promise<DatabaseServer> {
    const logger = new Logger('Database');
    const log = (line: string): void => logger.log(line);
    const server = await DatabaseServer.find(config, log);
    try {
      await checkServer(server.url, processes, log);
      return server;
    } catch (error) {
      await server.release();
      throw error;
    }
  }

  /** Releases all servers, for a process that exits before its modules are closed. */
  static async releaseAll(): Promise<void> {
    await Promise.all([...DatabaseServer.open].map((server) => server.release()));
  }

  private static async find(config: Settings, log: (line: string) => void): Promise<DatabaseServer> {
    if (config.databaseUrl !== undefined)
      return new DatabaseServer(config.databaseUrl.reveal(), () => Promise.resolve());
    const embedded = await startEmbedded({ dataDir: config.dataDir, log });
    return new DatabaseServer(embedded.url, () => embedded.release());
  }

  /** Runs pending migrations. @throws DatabaseUnusable */
  async migrate(): Promise<void> {
    const logger = new Logger('Database');
    const dataSource = new DataSource(dataSourceOptions(this.url));
    await (await openDataSource(dataSource, (line) => logger.log(line))).destroy();
  }

  /** Stops an embedded server unless another process uses it; does nothing for an external one. Never rejects. */
  release(): Promise<void> {
    this.releasing ??= this.letGo().finally(() => DatabaseServer.open.delete(this));
    return this.releasing;
  }
}
