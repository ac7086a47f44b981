import {
  Global,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type INestApplicationContext,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { Config } from '../../src/platform/config/index.js';
import {
  DatabaseHealth,
  DatabaseModule,
  DatabasePools,
  DatabaseServer,
  Notifications,
  processIdentity,
} from '../../src/platform/database/index.js';
import { readState } from '../../src/platform/database/embedded/state-file.js';
import { Secret } from '../../src/platform/shared/index.js';
import { emptyDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';
import { startTransactionPooler } from '../support/transaction-pooler.js';

type Settings = Pick<Config, 'databaseUrl' | 'dataDir'>;

/** Writes its last word when the program ends, as billing does. */
@Injectable()
class ShutdownWriter implements BeforeApplicationShutdown {
  constructor(private readonly pools: DatabasePools) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.pools.settlement.query("INSERT INTO words VALUES ('the last')");
  }
}

async function boot(settings: Settings): Promise<INestApplicationContext> {
  @Global()
  @Module({ providers: [{ provide: Config, useValue: settings }], exports: [Config] })
  class SettingsModule {}
  @Module({ providers: [ShutdownWriter] })
  class Feature {}
  @Module({ imports: [SettingsModule, Feature, DatabaseModule] })
  class Program {}
  return NestFactory.createApplicationContext(Program, { logger: false, abortOnError: false });
}

describe('DatabaseModule', () => {
  let database: TestDatabase;
  let admin: pg.Client;
  let program: INestApplicationContext | undefined;

  const bootHere = async (url = database.url): Promise<INestApplicationContext> =>
    (program = await boot({ databaseUrl: new Secret(url), dataDir: '/nowhere' }));
  const openConnections = async (): Promise<string[]> => {
    const { rows } = await admin.query<{ application_name: string }>(
      "SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
    );
    return rows.map(({ application_name }) => application_name).toSorted();
  };

  beforeEach(async () => {
    database = await emptyDatabase();
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query('CREATE TABLE words (word text)');
  });
  afterEach(async () => {
    await program?.close();
    program = undefined;
    await admin.end();
    await database.drop();
  });

  it.each(['admission', 'settlement'] as const)(
    'emits no uncaught error when the server closes a checked-out connection of the %s pool',
    async (name) => {
      const pool = (await bootHere()).get(DatabasePools)[name];
      const client = await pool.connect();
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const ended = new Promise<void>((resolve) => void client.on('end', resolve));
      await admin.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
      await ended;
      client.release(true);
      await expect(pool.query('SELECT 1')).resolves.toMatchObject({ rowCount: 1 });
    },
  );

  it('rejects the query without an uncaught error when a new connection is lost during its setup', async () => {
    const pool = (await bootHere()).get(DatabasePools).admission;
    const taken = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
    pool.once('connect', (client) =>
      (client as unknown as { connection: pg.Connection }).connection.stream.destroy(new Error('read ECONNRESET')),
    );
    await expect(pool.query('SELECT 1')).rejects.toThrow('ECONNRESET');
    for (const client of taken) client.release();
  });

  it('hands out a migrated database, pools that are kept apart, and notifications that are connected', async () => {
    const app = await bootHere();
    const pools = app.get(DatabasePools);
    expect(await app.get(DataSource).showMigrations()).toBe(false);
    expect(app.get(Notifications).connected).toBe(true);
    const commits = async (pool: pg.Pool): Promise<unknown> => (await pool.query('SHOW synchronous_commit')).rows[0];
    expect(await commits(pools.admission)).toEqual({ synchronous_commit: 'off' });
    expect(await commits(pools.settlement)).toEqual({ synchronous_commit: 'on' });
    expect(await commits(pools.general)).toEqual({ synchronous_commit: 'on' });
    const names = ['admission', 'general', 'listen', 'settlement'].map((role) => `switchboard ${process.pid} ${role}`);
    expect([...new Set(await openConnections())]).toEqual(names);
  });

  it('has the server give up a settlement before it is no longer waited for here, so that it is not tried beside itself', async () => {
    const { settlement } = (await bootHere()).get(DatabasePools);
    const { rows } = await settlement.query<{ limit_ms: number }>(
      "SELECT setting::int AS limit_ms FROM pg_settings WHERE name = 'statement_timeout'",
    );
    expect(rows[0]?.limit_ms).toBeGreaterThan(0);
    expect(rows[0]?.limit_ms).toBeLessThan(settlement.options.query_timeout ?? 0);
  });

  it('leaves large numbers as text', async () => {
    const pools = (await bootHere()).get(DatabasePools);
    const { rows } = await pools.settlement.query('SELECT 9007199254740993 AS big, 0.000000001 AS small');
    expect(rows).toEqual([{ big: '9007199254740993', small: '0.000000001' }]);
  });

  it('is there until every other module has said its last word, and leaves no connection behind', async () => {
    await (await bootHere()).close();
    program = undefined;
    expect((await admin.query('SELECT word FROM words')).rows).toEqual([{ word: 'the last' }]);
    await eventually(async () => expect(await openConnections()).toEqual([]));
  });

  it('goes on after the database has cut every connection', async () => {
    const pools = (await bootHere()).get(DatabasePools);
    await pools.admission.query('SELECT 1');
    await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await eventually(async () => {
      for (const pool of [pools.admission, pools.settlement, pools.general])
        expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    });
  });

  it('is healthy while it answers within a second', async () => {
    const app = await bootHere();
    const [health, pools] = [app.get(DatabaseHealth), app.get(DatabasePools)];
    expect(await health.ping()).toBe(true);
    let ended = 0;
    const busy = Array.from({ length: 8 }, () => pools.general.query('SELECT pg_sleep(5)').finally(() => (ended += 1)));
    expect(await health.ping()).toBe(false);
    expect(ended).toBe(0);
    await Promise.all(busy);
  });

  it('refuses a transaction pooler by name', async () => {
    const pooler = await startTransactionPooler(database.url);
    await expect(bootHere(pooler.url)).rejects.toThrow('DATABASE_URL points to a pooler in transaction mode');
    pooler.stop();
  });

  it('refuses a server that allows fewer connections than one process needs', async () => {
    const role = `few_${process.pid}`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT 5`);
    const url = Object.assign(new URL(database.url), { username: role, password: 'few' });
    await expect(bootHere(url.href)).rejects.toThrow('allows 5 connections and one process needs 18');
    const settings = { databaseUrl: new Secret(url.href), dataDir: '/nowhere' };
    await expect(DatabaseServer.use(settings, 3)).rejects.toThrow('allows 5 connections and 3 workers need 54');
    await admin.query(`DROP ROLE ${role}`);
  });

  it('says that it cannot sign in', async () => {
    const url = Object.assign(new URL(database.url), { password: 'wrong' });
    await expect(bootHere(url.href)).rejects.toThrow(/Cannot connect to the database: password authentication failed/);
  });

  it('starts the embedded server when there is no other, and stops it at the end', async () => {
    const dataDir = temporaryDataDir();
    const app = await boot({ databaseUrl: undefined, dataDir });
    await app.get(DatabasePools).settlement.query('CREATE TABLE words (word text)');
    const pid = readState(dataDir)?.pid ?? 0;
    expect(processIdentity(pid)).toBeDefined();
    await app.close();
    expect(processIdentity(pid)).toBeUndefined();
    expect(existsSync(join(dataDir, 'postgres.lock'))).toBe(false);
    removeDataDir(dataDir);
  });

  it('lets a program that fails to start let go of the server', async () => {
    const dataDir = temporaryDataDir();
    await DatabaseServer.use({ databaseUrl: undefined, dataDir });
    const pid = readState(dataDir)?.pid ?? 0;
    expect(processIdentity(pid)).toBeDefined();
    await DatabaseServer.releaseAll();
    expect(processIdentity(pid)).toBeUndefined();
    removeDataDir(dataDir);
  });
});
