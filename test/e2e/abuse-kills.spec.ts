import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { readState } from '../../src/database/embedded/state-file.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { Load, unhurried } from '../support/load.js';
import { untilGone } from '../support/processes.js';
import { catalogFor } from '../support/relay-app.js';
import { ScriptedUpstream } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';

/** Answers that a load must have seen before something is killed, and again before that counts as survived. */
const MANY = 30;

const kill = (...pids: number[]): void => pids.forEach((pid) => process.kill(pid, 'SIGKILL'));

describe('kill -9 while clients call', () => {
  let upstream: ScriptedUpstream;
  let service: Service;
  let load: Load;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    upstream.script(unhurried);
    service = await Service.start();
    const catalog = join(service.dataDir, 'catalog.yaml');
    writeFileSync(catalog, catalogFor(upstream.url));
    const email = 'admin@switchboard.internal';
    const commands = [
      ['catalog', 'apply', catalog],
      ['account', 'credit', '--email', email, '--amount', '1000', '--reason', 'for many calls'],
    ];
    for (const command of commands) expect(await service.command(...command)).toMatchObject({ code: 0 });
    load = new Load(() => service.address, /sk-\w+/.exec(service.output)?.[0] ?? '');
  }, 2 * PATIENCE_MS);
  beforeEach(() => load.untilMore(MANY), PATIENCE_MS);
  afterAll(async () => {
    await load.stop();
    await service.remove();
    await upstream.close();
  }, PATIENCE_MS);

  /** The server answers again, nothing that a client saw to its end is missing or there twice, the money is right. */
  const expectRecovery = async (): Promise<void> => {
    await load.untilMore(MANY, PATIENCE_MS);
    const seen = [...load.complete];
    const [ledger, usage] = await Promise.all([
      service.command('ledger', 'check'),
      service.command('usage', 'export', '--from', '2020-01-01', '--to', '2100-01-01'),
    ]);
    expect(ledger).toMatchObject({ code: 0, stdout: 'ledger exact\n' });
    expect(usage.code).toBe(0);
    const statuses = statusesIn(usage.stdout);
    const wrong = seen.filter((id) => statuses.get(id)?.join() !== 'succeeded');
    expect(wrong.map((id) => [id, statuses.get(id)])).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
  };

  const restart = async (): Promise<void> => {
    service = await Service.start(service.dataDir);
  };

  it(
    'of the server leaves the database to be adopted',
    async () => {
      const { relayPid, postgresPid } = service;
      kill(relayPid);
      await service.ended;
      expect(service.wrapper.exitCode).toBe(128 + 9);
      await restart();
      expect(service.postgresPid).toBe(postgresPid);
      await expectRecovery();
    },
    2 * PATIENCE_MS,
  );

  it(
    'of the wrapper ends the server in order, and the database with it',
    async () => {
      const { relayPid, postgresPid } = service;
      kill(service.wrapper.pid ?? Number.NaN);
      await service.ended;
      await Promise.all([relayPid, postgresPid].map(untilGone));
      expect(service.hasPidFile).toBe(false);
      await restart();
      await expectRecovery();
    },
    2 * PATIENCE_MS,
  );

  it(
    'of the database, again and again, is mended by the server itself',
    async () => {
      const { relayPid } = service;
      for (let time = 1; time <= 3; time += 1) {
        const { postgresPid } = service;
        kill(postgresPid);
        await untilGone(postgresPid);
        await eventually(() => expect([postgresPid, Number.NaN]).not.toContainEqual(service.postgresPid), PATIENCE_MS);
        await load.untilMore(1, PATIENCE_MS);
      }
      await expectRecovery();
      expect(service.relayPid).toBe(relayPid);
      expect((await fetch(`${service.address}/readyz`)).status).toBe(200);
    },
    2 * PATIENCE_MS,
  );

  it.each(['settlement', 'admission', 'keeper'])(
    'of the database process behind a %s connection is mended by the database',
    async (role) => {
      const { relayPid, postgresPid } = service;
      kill(await backendOf(service, role));
      await expectRecovery();
      expect(service.relayPid).toBe(relayPid);
      expect(service.postgresPid).toBe(postgresPid);
    },
    2 * PATIENCE_MS,
  );

  it(
    'of server and database at once is mended by the next start',
    async () => {
      kill(service.relayPid, service.postgresPid);
      await service.ended;
      expect(service.databaseRuns).toBe(false);
      await restart();
      await expectRecovery();
    },
    2 * PATIENCE_MS,
  );

  it(
    'of database, server and wrapper at once is mended by the next start',
    async () => {
      kill(service.postgresPid, service.relayPid, service.wrapper.pid ?? Number.NaN);
      await service.ended;
      await restart();
      await expectRecovery();
    },
    2 * PATIENCE_MS,
  );
});

/** Every status that the export gives a call, by its id. */
function statusesIn(csv: string): Map<string, string[]> {
  const [head = '', ...rows] = csv.trim().split('\n');
  const [id, status] = ['request_id', 'status'].map((name) => head.split(',').indexOf(name));
  const found = new Map<string, string[]>();
  for (const row of rows) {
    const cells = row.split(',');
    const key = cells[id ?? -1] ?? '';
    found.set(key, [...(found.get(key) ?? []), cells[status ?? -1] ?? '']);
  }
  return found;
}

async function backendOf({ dataDir }: Service, role: string): Promise<number> {
  const { port, password } = readState(dataDir) ?? {};
  const client = new pg.Client({ connectionString: `postgres://postgres:${password}@127.0.0.1:${port}/postgres` });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE application_name LIKE $1',
    [`% ${role}`],
  );
  await client.end();
  return rows[0]?.pid ?? Number.NaN;
}
