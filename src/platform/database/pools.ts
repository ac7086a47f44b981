import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { DataSource, Driver } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { reasonOf } from '../shared/index.js';
import { withRole } from './connection-url.js';
import { DatabaseClient } from './database-client.js';
import { ReconnectingSession, type SessionHandlers } from './reconnecting-session.js';

/** Max connections per process, by purpose. */
export const POOL_SIZES = { admission: 4, settlement: 4, general: 8, listen: 1, presence: 1 } as const;

/** Timeout for obtaining a connection, in ms. */
export const CONNECT_TIMEOUT_MS = 2000;

/** Response timeouts in ms. A silent connection is abandoned, and the statement is retried on another one. */
const RESPONSE_TIMEOUT_MS = { admission: 2000, settlement: 10_000 } as const;

/**
 * Server-side statement timeouts in ms. For settlements it is shorter than the response timeout: a statement that
 * continues on the server while it is retried could otherwise still be recorded.
 */
const STATEMENT_TIMEOUT_MS = { admission: 2000, settlement: 8000 } as const;

const IDLE_MS = 60_000;
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/**
 * The connection pools of this process, separated so that a slow page cannot delay billing:
 * - `admission`: 4 sessions with `synchronous_commit = off`, for what every call needs at once: its key and its hold. A
 * database crash may lose these writes, but never partially. Response timeout: 2 s.
 * - `settlement`: 4 sessions with durable commits. Response timeout: 10 s, statement timeout: 8 s.
 * - `general`: 8 sessions of TypeORM's own pool, for everything else.
 * Type parsers are pg's: `bigint` and `numeric` arrive as strings; parse them with `BigInt(…)`. Queries reject without
 * a connection within 2 s. Closed by DatabaseModule after everything else.
 */
export class DatabasePools {
  readonly admission: pg.Pool;
  readonly settlement: pg.Pool;
  readonly general: pg.Pool;
  private readonly logger = new Logger('Database');

  constructor(
    private readonly url: string,
    dataSource: DataSource,
  ) {
    this.admission = this.open(url, 'admission', 'SET synchronous_commit = off');
    this.settlement = this.open(url, 'settlement');
    this.general = poolOf(dataSource.driver);
    // pg-pool handles errors of idle clients only; those of a client in setup or use would be uncaught.
    for (const pool of [this.admission, this.settlement])
      pool.on('connect', (client) => client.on('error', () => undefined)); // its queries reject
  }

  /** A dedicated session for what one connection must hold as long as the process lives. The caller closes it. */
  reconnectingSession(role: 'presence', beatMs: number, handlers: SessionHandlers): ReconnectingSession {
    return new ReconnectingSession(this.url, role, beatMs, handlers);
  }

  /** Closes our pools; TypeORM closes its own. */
  async close(): Promise<void> {
    await Promise.all([this.admission, this.settlement].filter((pool) => !pool.ending).map((pool) => pool.end()));
  }

  private open(url: string, role: 'admission' | 'settlement', setting = ''): pg.Pool {
    const pool = new pg.Pool({
      ...poolOptions(url, role),
      max: POOL_SIZES[role],
      min: 1,
      query_timeout: RESPONSE_TIMEOUT_MS[role],
      ...onceConnected(`SET statement_timeout = ${STATEMENT_TIMEOUT_MS[role]}; ${setting}`),
    });
    // Without a listener, an idle connection closed by the server would crash the process.
    pool.on('error', (error) => {
      // After `end` the connection is unused: the server may close it first.
      if (!pool.ending) this.logger.warn(`Lost a ${role} database connection: ${reasonOf(error)}`);
    });
    return pool;
  }
}

/**
 * Runs a statement on every new connection. Not a startup parameter: poolers reject unknown ones, even in session mode.
 */
function onceConnected(statement: string): Pick<pg.PoolConfig, 'verify'> {
  return { verify: (client, done) => client.query(statement, (error) => done(error)) };
}

function poolOf(driver: Driver): pg.Pool {
  if (isPostgres(driver)) return driver.master;
  throw new TypeError('The data source is not PostgreSQL.');
}

const isPostgres = (driver: Driver): driver is PostgresDriver => driver.options.type === 'postgres';

/** Options of all pools, including TypeORM's. */
export function poolOptions(url: string, role: string): pg.PoolConfig {
  return {
    Client: DatabaseClient,
    connectionString: withRole(url, role),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    ...KEEP_ALIVE,
  };
}

/** A session without statement timeouts, for work that may take hours. An open transaction ends with the session. */
export async function longSession<T>(url: string, role: string, work: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new DatabaseClient({
    connectionString: withRole(url, role),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  session.on('error', () => undefined); // the next query rejects
  try {
    await session.connect();
    await session.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    return await work(session);
  } finally {
    await session.end().catch(() => undefined);
  }
}
