import { Logger } from '@nestjs/common';
import pg from 'pg';
import type { DataSource, Driver } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { reasonOf } from '../shared/index.js';
import { withRole } from './connection-url.js';
import { KeptSession, type SessionDuties } from './kept-session.js';

/** The most connections that one process opens, by what they are for. */
export const POOL_SIZES = { admission: 4, settlement: 4, general: 8, listen: 1, presence: 1 } as const;

/** How long a caller waits for a connection, in ms. */
export const CONNECT_TIMEOUT_MS = 2000;

/**
 * How long an answer is waited for, in ms: a connection may be open and yet say nothing ever again. Then it is given up,
 * and the statement is tried on another one.
 */
const ANSWER_TIMEOUT_MS = { admission: 2000, settlement: 10_000 } as const;

/**
 * When the server gives a statement up by itself, in ms. A settlement well before its answer is no longer waited for: one
 * that goes on at the server while it is tried again might still be what is recorded.
 */
const STATEMENT_TIMEOUT_MS = { admission: 2000, settlement: 8000 } as const;

const IDLE_MS = 60_000;
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/**
 * The connections of this process, kept apart so that a slow page cannot hold up money:
 * - `admission`: 4 sessions with `synchronous_commit = off`, for what every call needs at once: its key, its hold. What
 *   they write may be lost when the database server crashes; it is never half there. An answer takes 2 s at most.
 * - `settlement`: 4 sessions that commit durably. An answer takes 10 s at most, a statement 8 s.
 * - `general`: 8 sessions, TypeORM's own pool, for everything people manage.
 *
 * Type parsers are pg's own: `bigint` and `numeric` arrive as strings; read them with `BigInt(…)`, never as a number.
 * A query rejects when no connection is had within 2 s. Closed by DatabaseModule after everything else.
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
    // pg-pool listens for errors of idle clients only; a client that is set up or checked out would raise them uncaught.
    for (const pool of [this.admission, this.settlement])
      pool.on('connect', (client) => client.on('error', () => undefined)); // its queries reject
  }

  /** A session of its own for what one connection must hold as long as the process lives. Whoever opens it closes it. */
  keptSession(role: 'presence', beatMs: number, duties: SessionDuties): KeptSession {
    return new KeptSession(this.url, role, beatMs, duties);
  }

  /** Closes the pools that are ours; TypeORM closes its own. */
  async close(): Promise<void> {
    await Promise.all([this.admission, this.settlement].filter((pool) => !pool.ending).map((pool) => pool.end()));
  }

  private open(url: string, role: 'admission' | 'settlement', setting = ''): pg.Pool {
    const pool = new pg.Pool({
      ...poolOptions(url, role),
      max: POOL_SIZES[role],
      min: 1,
      query_timeout: ANSWER_TIMEOUT_MS[role],
      ...onceConnected(`SET statement_timeout = ${STATEMENT_TIMEOUT_MS[role]}; ${setting}`),
    });
    // A pool without a listener would end the process when the server closes an idle connection.
    pool.on('error', (error) => this.logger.warn(`Lost a ${role} database connection: ${reasonOf(error)}`));
    return pool;
  }
}

/**
 * A statement for every new connection, before it is given out. Not as a startup parameter: poolers, session mode
 * included, refuse those that they do not know.
 */
function onceConnected(statement: string): Pick<pg.PoolConfig, 'verify'> {
  return { verify: (client, done) => client.query(statement, (error) => done(error)) };
}

function poolOf(driver: Driver): pg.Pool {
  if (isPostgres(driver)) return driver.master;
  throw new TypeError('The data source is not PostgreSQL.');
}

const isPostgres = (driver: Driver): driver is PostgresDriver => driver.options.type === 'postgres';

/** What all pools have in common, TypeORM's included. */
export function poolOptions(url: string, role: string): pg.PoolConfig {
  return {
    connectionString: withRole(url, role),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    ...KEEP_ALIVE,
  };
}
