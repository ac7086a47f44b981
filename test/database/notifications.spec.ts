import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Notifications } from '../../src/platform/database/index.js';
import { freshDatabase, withDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

describe('Notifications', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  const open: Notifications[] = [];

  const connect = async (): Promise<Notifications> => {
    const notifications = new Notifications(database.url, pool);
    open.push(notifications);
    await notifications.start();
    return notifications;
  };
  const received = (notifications: Notifications, topic: string): unknown[] => {
    const payloads: unknown[] = [];
    notifications.on(topic, (payload) => void payloads.push(payload));
    return payloads;
  };
  const nameOfDatabase = (): string => new URL(database.url).pathname.slice(1);
  const cutListeners = (through: pg.Pool | pg.Client = pool): Promise<unknown> =>
    through.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE '% listen'",
      [nameOfDatabase()],
    );
  /** While nobody new gets in. */
  const whileClosed = async (work: (outside: pg.Client) => Promise<void>): Promise<void> => {
    const outside = new pg.Client({ connectionString: withDatabase(database.url, 'postgres') });
    await outside.connect();
    await outside.query(`ALTER DATABASE ${nameOfDatabase()} ALLOW_CONNECTIONS false`);
    await work(outside);
    await outside.query(`ALTER DATABASE ${nameOfDatabase()} ALLOW_CONNECTIONS true`);
    await outside.end();
  };

  beforeEach(async () => {
    database = await freshDatabase();
    pool = new pg.Pool({ connectionString: database.url, max: 4 });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((notifications) => notifications.close()));
    await pool.end();
    await database.drop();
  });

  it('reach every listener, the sender included, with their payload', async () => {
    const [first, second] = [await connect(), await connect()];
    const [one, two] = [received(first, 'keys'), received(second, 'keys')];
    await first.publish('keys', { id: 'key_1', versions: [1, 2] });
    await eventually(() =>
      expect([one, two]).toEqual([[{ id: 'key_1', versions: [1, 2] }], [{ id: 'key_1', versions: [1, 2] }]]),
    );
  });

  it('reach only the handlers of their topic, until those are taken off', async () => {
    const notifications = await connect();
    const other = received(notifications, 'other');
    const payloads: unknown[] = [];
    const off = notifications.on('topic', (payload) => void payloads.push(payload));
    await notifications.publish('topic', 1);
    await eventually(() => expect(payloads).toEqual([1]));
    off();
    await notifications.publish('topic', 2);
    await notifications.publish('other');
    await eventually(() => expect(other).toEqual([undefined]));
    expect(payloads).toEqual([1]);
  });

  it('are delivered when the transaction they were sent in commits, and never when it rolls back', async () => {
    const notifications = await connect();
    const payloads = received(notifications, 'topic');
    const client = await pool.connect();
    await client.query('BEGIN');
    await notifications.publish('topic', 'undone', client);
    await client.query('ROLLBACK');
    await client.query('BEGIN');
    await notifications.publish('topic', 'done', client);
    await sleep(100);
    expect(payloads).toEqual([]);
    await client.query('COMMIT');
    client.release();
    await eventually(() => expect(payloads).toEqual(['done']));
  });

  it('go on to the next handler when one fails', async () => {
    const notifications = await connect();
    notifications.on('topic', () => Promise.reject(new Error('the first handler fails')));
    const payloads = received(notifications, 'topic');
    await notifications.publish('topic', 1);
    await eventually(() => expect(payloads).toEqual([1]));
  });

  it('are refused when they are longer than PostgreSQL carries', async () => {
    const notifications = await connect();
    await expect(notifications.publish('topic', 'x'.repeat(8000))).rejects.toThrow('the maximum is 7999');
  });

  it('are received again after the connection was cut, and caches are invalidated', async () => {
    const notifications = await connect();
    let reconnects = 0;
    notifications.onReconnect(() => reconnects++);
    const payloads = received(notifications, 'topic');
    await whileClosed(async (outside) => {
      await cutListeners(outside);
      await eventually(() => expect(notifications.connected).toBe(false));
    });
    await eventually(() => expect(reconnects).toBe(1));
    expect(notifications.connected).toBe(true);
    await notifications.publish('topic', 'after');
    await eventually(() => expect(payloads).toEqual(['after']));
  });

  it('find a server that was announced, also after its connection was cut, until it ends', async () => {
    const [server, commandLine] = [await connect(), await connect()];
    const ask = (): Promise<unknown[]> => commandLine.ask('anyone', undefined, 1000);
    server.handle('anyone', () => 'I am here');
    expect(await ask()).toEqual([]);
    await server.announceServer();
    expect(await ask()).toEqual(['I am here']);
    const reconnected = new Promise<void>((resolve) => server.onReconnect(resolve));
    await cutListeners();
    await reconnected;
    await eventually(async () => expect(await ask()).toEqual(['I am here']));
    await server.close();
    await eventually(async () => expect(await ask()).toEqual([]));
  });

  it('carry a question to every server and bring back all responses', async () => {
    const [first, second, commandLine] = [await connect(), await connect(), await connect()];
    for (const [index, server] of [first, second].entries()) {
      await server.announceServer();
      server.handle('has', (name) => ({ server: index, has: name === 'OPENAI_KEY' }));
    }
    // Longer than this test may take: it does not wait for others when all have answered.
    const responses = await commandLine.ask('has', 'OPENAI_KEY', 600_000);
    expect(responses).toHaveLength(2);
    expect(responses).toEqual(
      expect.arrayContaining([
        { server: 0, has: true },
        { server: 1, has: true },
      ]),
    );
  });

  it('bring back the responses that came when one server keeps silent, and none when none runs', async () => {
    const [silent, speaking, commandLine] = [await connect(), await connect(), await connect()];
    expect(await commandLine.ask('anyone', undefined, 5000)).toEqual([]);
    await silent.announceServer();
    await speaking.announceServer();
    speaking.handle('anyone', () => 'I am here');
    expect(await commandLine.ask('anyone', undefined, 300)).toEqual(['I am here']);
  });
});
