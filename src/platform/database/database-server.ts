import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/index.js';
import { codeOf, monotonicMs, reasonOf } from '../shared/index.js';
import { withRole } from './connection-url.js';
import { DatabaseClient } from './database-client.js';
import { dataSourceOptions, openDataSource } from './data-source.js';
import { DatabaseUnusable, PASSING } from './database.errors.js';
import { startEmbedded } from './embedded/index.js';
import { CONNECT_TIMEOUT_MS, POOL_SIZES } from './pools.js';

type ServerConfig = Pick<Config, 'databaseUrl' | 'dataDir'>;

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
  static async use(config: ServerConfig, processes = 1): Promise<DatabaseServer> {
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

  private static async find(config: ServerConfig, log: (line: string) => void): Promise<DatabaseServer> {
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

/** How long startup waits for a database that is also starting, in ms. */
const TIMEOUT_MS = 10_000;
const RETRY_MS = 250;

/** Minimum version for the migrations. */
const OLDEST_VERSION = 15;

/**
 * Checks that the server responds, is new enough, keeps a session on one connection, and has enough connections for
 * `processes`. 0 skips the last check.
 * @throws DatabaseUnusable naming the problem
 */
export async function checkServer(url: string, processes: number, log: (line: string) => void): Promise<void> {
  const first = await connectWithRetries(url, log);
  try {
    await checkVersion(first);
    await checkSessions(first, url);
    if (processes > 0) await checkConnections(first, processes, log);
  } catch (error) {
    throw error instanceof DatabaseUnusable ? error : unreachable(error);
  } finally {
    await first.end().catch(() => undefined);
  }
}

async function connectWithRetries(url: string, log: (line: string) => void): Promise<pg.Client> {
  const deadline = monotonicMs() + TIMEOUT_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(url);
    } catch (error) {
      if (!PASSING.has(codeOf(error)) || monotonicMs() > deadline) throw unreachable(error);
      if (attempt === 1) log(`Waiting for the database: ${reasonOf(error)}.`);
      await sleep(RETRY_MS);
    }
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new DatabaseClient({
    connectionString: withRole(url, 'check'),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // the next query rejects
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

async function checkVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('SHOW server_version_num');
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000);
  if (major < OLDEST_VERSION)
    throw new DatabaseUnusable(`PostgreSQL ${OLDEST_VERSION} or later is required; the server runs ${major}.`);
}

/**
 * Detects transaction poolers, which break LISTEN, advisory locks, session settings and named statements. They only
 * show while the previous connection is busy: hence the second client, in a transaction.
 */
async function checkSessions(first: pg.Client, url: string): Promise<void> {
  const mark = randomUUID();
  const before = await first.query<{ pid: number }>(
    `SELECT pg_backend_pid() AS pid, set_config('switchboard.mark', '${mark}', false)`,
  );
  const second = await connect(url);
  try {
    await second.query('BEGIN');
    const other = await second.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const after = await first.query<{ pid: number; mark: string | null }>(
      "SELECT pg_backend_pid() AS pid, current_setting('switchboard.mark', true) AS mark",
    );
    const pid = before.rows[0]?.pid;
    if (pid !== after.rows[0]?.pid || pid === other.rows[0]?.pid || after.rows[0]?.mark !== mark)
      throw new DatabaseUnusable(
        'DATABASE_URL points to a pooler in transaction mode. Connect directly, or use a pooler in session mode.',
      );
  } finally {
    await second.end().catch(() => undefined);
  }
}

async function checkConnections(client: pg.Client, processes: number, log: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ allowed: string; used: string }>(CONNECTIONS);
  const allowed = Number(rows[0]?.allowed);
  const needed = processes * Object.values(POOL_SIZES).reduce((sum, size) => sum + size, 0);
  const [who, remedy] =
    processes === 1
      ? ['one process needs', "raise max_connections (or the role's limit)"]
      : [`${processes} workers need`, "raise max_connections (or the role's limit), or lower WORKERS"];
  if (allowed < needed)
    throw new DatabaseUnusable(`The database allows ${allowed} connections and ${who} ${needed}: ${remedy}.`);
  const free = allowed - Number(rows[0]?.used);
  if (free < needed)
    log(
      `The database has ${free} of ${allowed} connections free and ${processes === 1 ? 'this process' : 'the workers'} may need ${needed}: raise max_connections.`,
    );
}

/** Connections that the role may open, and those open besides ours. -1: no limit on a role or database. */
const CONNECTIONS = `
  SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
               (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
               (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database())) AS allowed,
         (SELECT count(*) FROM pg_stat_activity
           WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`;

const unreachable = (error: unknown): DatabaseUnusable =>
  new DatabaseUnusable(
    `Cannot connect to the database: ${reasonOf(error)}. Check DATABASE_URL and that the server is running.`,
    error,
  );
