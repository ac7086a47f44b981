import pg from 'pg';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { aRequest } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn } from '../support/scripted-upstream.js';

/** Limits of connections do not hold for superusers: a role that owns what the superuser owns. */
const ROLE = 'relay_of_readiness';

describe('/readyz', () => {
  let database: TestDatabase;
  let server: pg.Client;
  let relay: RelayApp;
  let caller: TestCaller;
  let name: string;

  beforeAll(async () => {
    database = await freshDatabase();
    name = new URL(database.url).pathname.slice(1);
    server = new pg.Client({ connectionString: database.url });
    await server.connect();
    await server.query(`DROP ROLE IF EXISTS ${ROLE}`);
    const url = new URL(database.url);
    await server.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'readiness'; GRANT "${url.username}" TO ${ROLE}`);
    url.username = ROLE;
    url.password = 'readiness';
    relay = await RelayApp.start({}, { DATABASE_URL: url.href });
    caller = await relay.caller();
  });
  afterAll(async () => {
    await relay.close();
    await server.end();
    await database.drop();
  });
  beforeEach(() => {
    relay.upstream.reset();
    relay.upstream.script(responseIn('messages'));
  });

  const ready = async (): Promise<number> => (await fetch(`${relay.url}/readyz`)).status;
  const call = async (): Promise<number> => (await relay.post('/v1/messages', caller.key, aRequest('messages'))).status;
  /** Ends the sessions that admit calls; where they are needed again, others are opened. */
  const endSessions = async (): Promise<void> => {
    await server.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE '%admission%'`,
      [name],
    );
    await eventually(async () => {
      const { rows } = await server.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE '%admission%'`,
        [name],
      );
      expect(rows).toEqual([]);
    });
  };

  it.each([
    ['no connections are left', 'CONNECTION LIMIT 0', 'CONNECTION LIMIT -1'],
    ['the database does not write', 'SET default_transaction_read_only = on', 'RESET default_transaction_read_only'],
  ])('fails while %s, with and without calls, and recovers by itself', async (_, begin, end) => {
    expect([await call(), await ready()]).toEqual([200, 200]);
    try {
      await server.query(`ALTER DATABASE ${name} ${begin}`);
      await endSessions();
      await eventually(async () => expect(await ready()).toBe(503), 10_000);
      expect([await call(), await ready()]).toEqual([503, 503]);
    } finally {
      await server.query(`ALTER DATABASE ${name} ${end}`);
      await endSessions();
    }
    await eventually(async () => expect(await ready()).toBe(200), 10_000);
    expect([await call(), await ready()]).toEqual([200, 200]);
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });

  it('does not fail because of calls that are refused', async () => {
    const poor = await relay.caller({ credit: '0' });
    for (let refused = 0; refused < 5; refused += 1)
      expect((await relay.post('/v1/messages', poor.key, aRequest('messages'))).status).not.toBe(200);
    expect(await ready()).toBe(200);
    const { rows } = await server.query('SELECT 1 FROM open_calls');
    expect(rows).toEqual([]);
  });
});
