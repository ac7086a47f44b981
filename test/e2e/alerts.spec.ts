import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { aRequest } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { Mailbox } from '../support/mailbox.js';
import { catalogFor } from '../support/relay-app.js';
import { responseIn, ScriptedUpstream } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';

const EMAIL = 'ann@example.com';
const LOW = 'Your balance is below $0.05';
/** At least two looks at thresholds. */
const TWO_LOOKS_MS = 11_000;

describe('alerts of two processes on one database', () => {
  let database: TestDatabase;
  let sql: pg.Client;
  let upstream: ScriptedUpstream;
  let mailbox: Mailbox;
  let services: Service[];
  let key: string;

  const start = (dataDir?: string): Promise<Service> =>
    Service.start(dataDir, {
      DATABASE_URL: database.url,
      SECRET_KEY: 'two processes share this secret.',
      SMTP_URL: mailbox.url,
      DEMO: 'off',
      LOG_LEVEL: 'error',
    });
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await services[0]!.command(...args);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trim();
  };
  /** $0.02 each, by one process and the other in turn. */
  const call = async (times: number): Promise<void> => {
    for (let count = 0; count < times; count += 1) {
      const response = await fetch(`${services[count % 2]!.address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(aRequest('chat-completions', { model: 'fee' })),
      });
      expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    }
  };
  const subjects = () => mailbox.mails.filter(({ to }) => to.includes(EMAIL)).map(({ message }) => message.subject);

  beforeAll(async () => {
    [database, upstream, mailbox] = await Promise.all([freshDatabase(), ScriptedUpstream.start(), Mailbox.open()]);
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    // One after the other: the first makes the administrator.
    services = [await start()];
    services.push(await start());
    const catalog = join(services[0]!.dataDir, 'catalog.yaml');
    writeFileSync(catalog, catalogFor(upstream.url));
    upstream.script(responseIn('chat-completions'));
    await run('catalog', 'apply', catalog);
    await run('account', 'create', '--email', EMAIL, '--credit', '0.10');
    key = await run('key', 'create', '--email', EMAIL, '--name', 'ci');
    await sql.query('UPDATE accounts SET verified_at = now() WHERE email = $1', [EMAIL]);
    await sql.query(
      `INSERT INTO alert_settings SELECT id, 50000000, 80, true, 80, true, 7, true, true FROM accounts WHERE email = $1`,
      [EMAIL],
    );
  }, 120_000);
  afterAll(async () => {
    for (const service of services) await service.remove();
    await sql.end();
    await Promise.all([database.drop(), upstream.close(), mailbox.close()]);
  }, 60_000);

  it('are one mail for each crossing', async () => {
    await call(2);
    await sleep(TWO_LOOKS_MS);
    expect(subjects()).toEqual([]);
    await call(1);
    await mailbox.latestTo(EMAIL);
    await sleep(TWO_LOOKS_MS);
    expect(subjects()).toEqual([LOW]);

    await run('account', 'credit', '--email', EMAIL, '--amount', '0.02', '--reason', 'test');
    await eventually(async () => expect((await sql.query('SELECT FROM alerts')).rowCount).toBe(0), TIMEOUT_MS);
    await call(1);
    await mailbox.latestTo(EMAIL, 2);
    await sleep(TWO_LOOKS_MS);
    expect(subjects()).toEqual([LOW, LOW]);
  }, 180_000);

  it('come once more, and are not lost, when a process dies while the mail server takes one', async () => {
    await run('account', 'credit', '--email', EMAIL, '--amount', '1', '--reason', 'test');
    await eventually(async () => expect((await sql.query('SELECT FROM alerts')).rowCount).toBe(0), TIMEOUT_MS);
    const before = subjects().length;
    // The server has it, and never says so.
    mailbox.whileTaking = () => new Promise(() => undefined);
    await sql.query('UPDATE alert_settings SET wallet_below = 2000000000');
    await mailbox.latestTo(EMAIL, before + 1);
    for (const service of services) {
      process.kill(service.relayPid, 'SIGKILL');
      await service.ended;
    }
    mailbox.whileTaking = () => Promise.resolve();
    services[1] = await start(services[1]!.dataDir);
    await sleep(TWO_LOOKS_MS);
    expect(subjects()).toHaveLength(before + 1);
    // As if the minutes had passed for which it had been taken up.
    await sql.query('UPDATE alerts SET next_try_at = now()');
    await mailbox.latestTo(EMAIL, before + 2);
    await eventually(async () =>
      expect((await sql.query('SELECT state FROM alerts')).rows).toEqual([{ state: 'sent' }]),
    );
  }, 180_000);
});
