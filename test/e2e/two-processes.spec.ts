import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { Load } from '../support/load.js';
import { catalogFor } from '../support/relay-app.js';
import type { RecordedRequest } from '../support/scripted-request.js';
import {
  responseIn,
  delay,
  endlessStream,
  gate,
  pacedStream,
  type Script,
  ScriptedUpstream,
  waitFor,
} from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';

/** How long clients call while processes are killed. `npm run test:long` takes the short way; by hand it may be minutes. */
const CHAOS_MS = Number(process.env['CHAOS_SECONDS'] ?? 15) * 1000;
const KILL_EVERY_MS = 5000;
/** For a slow machine with other things to do. */
const TIMEOUT_MS = 90_000;
const EMAIL = 'team@example.com';
/** More than the first hold of a stream covers: 30 pieces of 100 tokens. */
const LONG_RESPONSE = Array.from({ length: 30 }, () => 'four'.repeat(100));

/** Some answers come at once, some outgrow what was first held for them. */
const mixed = ({ protocol = 'chat-completions', json }: RecordedRequest): Script =>
  (json as { stream?: boolean }).stream === true
    ? pacedStream(protocol, { text: LONG_RESPONSE, usage: { prompt: 100, completion: 3000 } }, 2)
    : [delay(10), responseIn(protocol)];

describe('two processes on one database', () => {
  let database: TestDatabase;
  let sql: pg.Client;
  let upstream: ScriptedUpstream;
  let services: Service[];
  const start = (dataDir?: string): Promise<Service> =>
    Service.start(dataDir, {
      DATABASE_URL: database.url,
      SECRET_KEY: 'two processes share this secret.',
      DEMO: 'off',
      LOG_LEVEL: 'error',
    });

  beforeAll(async () => {
    [database, upstream] = await Promise.all([freshDatabase(), ScriptedUpstream.start()]);
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    // One after the other: the first makes the administrator.
    services = [await start()];
    services.push(await start());
    const catalog = join(services[0]!.dataDir, 'catalog.yaml');
    writeFileSync(catalog, catalogFor(upstream.url));
    await run('catalog', 'apply', catalog);
  }, 120_000);
  afterAll(async () => {
    for (const service of services) await service.remove();
    await sql.end();
    await Promise.all([database.drop(), upstream.close()]);
  }, 60_000);

  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await services[0]!.command(...args);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trim();
  };
  const aKey = async (email: string, credit: string): Promise<string> => {
    await run('account', 'create', '--email', email, '--credit', credit);
    return run('key', 'create', '--email', email, '--name', 'test');
  };
  const wallet = async (email: string): Promise<unknown> => {
    const { rows } = await sql.query(
      'SELECT balance, held, holds FROM wallets JOIN accounts ON accounts.id = account_id WHERE email = $1',
      [email],
    );
    return rows[0];
  };

  it('let exactly those of 200 parallel calls pass that the wallet covers, and end at 0', async () => {
    const key = await aKey('fifty@example.com', '1');
    const allAdmitted = gate();
    upstream.script([waitFor(allAdmitted), responseIn('chat-completions')]);
    const calls = Array.from({ length: 200 }, async (_, index) => {
      const response = await fetch(`${services[index % 2]!.address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(aRequest('chat-completions', { model: 'fee' })),
      });
      return { status: response.status, text: await response.text() };
    });
    // $0.02 each: a refused call answers at once, the others wait for the gate.
    await eventually(() => expect(upstream.requests.length).toBe(50), TIMEOUT_MS);
    expect(await wallet('fifty@example.com')).toEqual({ balance: '1000000000', held: '1000000000', holds: 50 });
    allAdmitted.open();
    const responses = await Promise.all(calls);
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(150);
    for (const { status, text } of refused) {
      expect(status).toBe(429);
      expect(text).toContain('insufficient quota');
    }
    expect(await wallet('fifty@example.com')).toEqual({ balance: '0', held: '0', holds: 0 });
  }, 120_000);

  it('both end the streams of an account that is suspended (F8)', async () => {
    const email = 'suspended@example.com';
    const key = await aKey(email, '1');
    upstream.script(endlessStream('messages'));
    const streams = services.map(async ({ address }) => {
      const response = await fetch(`${address}${PATHS.messages}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(aRequest('messages', { stream: true })),
      });
      return response.text();
    });
    for (const _ of services) await upstream.nextRequest();
    await run('account', 'disable', '--email', email);
    for (const stream of await Promise.all(streams))
      expect(stream).toContain('the account of this API key is suspended');
    expect(await wallet(email)).toMatchObject({ held: '0', holds: 0 });
    expect(await run('ledger', 'check')).toBe('ledger exact');
  }, 120_000);

  it(
    'are exact after calls of all kinds while one or the other is killed',
    async () => {
      upstream.script(mixed);
      const rich = await aKey(EMAIL, '1000');
      const poor = await aKey('poor@example.com', '2');
      const at = (index: number) => (): string => services[index]!.address;
      const loads = [0, 1].flatMap((index) => [new Load(at(index), rich, 4), new Load(at(index), poor, 2)]);
      const endsAt = performance.now() + CHAOS_MS;
      for (let turn = 0; performance.now() < endsAt; turn += 1) {
        await sleep(KILL_EVERY_MS);
        const service = services[turn % 2]!;
        process.kill(service.relayPid, 'SIGKILL');
        await service.ended;
        services[turn % 2] = await start(service.dataDir);
      }
      for (const load of loads) await load.stop();

      // What the killed ones had begun is closed by a sweeper of whoever runs.
      await eventually(async () => {
        const { rows } = await sql.query('SELECT count(*)::int AS open FROM open_calls');
        expect(rows).toEqual([{ open: 0 }]);
      }, TIMEOUT_MS);
      expect(await run('ledger', 'check')).toBe('ledger exact');
      const seen = loads.flatMap(({ complete }) => complete);
      expect(seen.length).toBeGreaterThan(50);
      const { rows } = await sql.query(
        `SELECT count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded, count(DISTINCT id)::int AS ids
         FROM calls WHERE id = ANY ($1)`,
        [seen],
      );
      expect(rows).toEqual([{ succeeded: seen.length, ids: seen.length }]);
      const { rows: server } = await sql.query(
        'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
      );
      expect(server).toEqual([{ deadlocks: 0 }]);
    },
    CHAOS_MS + 240_000,
  );
});
