import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Config } from '../config/index.js';
import { checkServer } from './check-server.js';
import { dataSourceOptions, openDataSource } from './data-source.js';
import { startEmbedded } from './embedded/index.js';

type Settings = Pick<Config, 'databaseUrl' | 'dataDir'>;

/** The server that this process uses, checked and ready. */
export class DatabaseServer {
  private static readonly open = new Set<DatabaseServer>();
  private releasing: Promise<void> | undefined;

  private constructor(
    /** Holds the password: never log it. */
    readonly url: string,
    private readonly letGo: () => Promise<void>,
  ) {
    DatabaseServer.open.add(this);
  }

  /**
   * The server that DATABASE_URL names, else the embedded one, started or adopted.
   * @param processes how many shall find connections enough there; 0: that has been looked at
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

  /** Lets go of every server that is not let go of yet, for a process that ends before its modules could be closed. */
  static async releaseAll(): Promise<void> {
    await Promise.all([...DatabaseServer.open].map((server) => server.release()));
  }

  private static async find(config: Settings, log: (line: string) => void): Promise<DatabaseServer> {
    if (config.databaseUrl !== undefined)
      return new DatabaseServer(config.databaseUrl.reveal(), () => Promise.resolve());
    const embedded = await startEmbedded({ dataDir: config.dataDir, log });
    return new DatabaseServer(embedded.url, () => embedded.release());
  }

  /** Brings the schema up to date, for processes that find it so. @throws DatabaseUnusable */
  async migrate(): Promise<void> {
    const logger = new Logger('Database');
    const dataSource = new DataSource(dataSourceOptions(this.url));
    await (await openDataSource(dataSource, (line) => logger.log(line))).destroy();
  }

  /** Stops an embedded server when nobody else uses it; does nothing to one that is not ours. Never rejects. */
  release(): Promise<void> {
    this.releasing ??= this.letGo().finally(() => DatabaseServer.open.delete(this));
    return this.releasing;
  }
}
