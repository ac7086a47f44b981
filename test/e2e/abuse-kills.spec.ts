import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { processIdentity } from '../../src/database/index.js';
import { readState } from '../../src/database/embedded/state-file.js';
import { eventually, PATIENCE_MS } from '../support/eventually.js';
import { Load, unhurried } from '../support/load.js';
import { catalogFor } from '../support/relay-app.js';
import { ScriptedUpstream } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';

/** Less than a process may be silent: who is gone from this machine need not be waited for. */
const SWEPT_MS = 30_000;
/** Answers that a load must have seen before something is killed, and again before that counts as survived. */
const MANY = 30;

const kill = (...pids: number[]): void => pids.forEach((pid) => process.kill(pid, 'SIGKILL'));
const untilGone = (pid: number): Promise<void> =>
  eventually(() => expect(processIdentity(pid)).toBeUndefined(), PATIENCE_MS);

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
  }, 60_000);

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

  /** What was on hold for calls of processes that were killed is free again. */
  const expectSwept = (): Promise<void> =>
    eventually(async () => {
      expect(await query(service, ORPHANS, [service.relayPid])).toEqual([]);
      expect(await query(service, 'SELECT pid FROM processes')).toEqual([{ pid: service.relayPid }]);
    }, SWEPT_MS);

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
      await expectSwept();
      await expectRecovery();
      expect(await query(service, INTERRUPTED)).toEqual([{ billing_basis: 'free', cost: '0', lost: '0' }]);
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
      await expectSwept();
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

  it.each(['settlement', 'admission', 'keeper', 'presence'])(
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
      await expectSwept();
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
      await expectSwept();
      await expectRecovery();
    },
    2 * PATIENCE_MS,
  );

  it(
    'leaves no call open in the end, and the server none behind that stops in order',
    async () => {
      await load.stop();
      await eventually(async () => expect(await query(service, UNSETTLED)).toEqual([]), SWEPT_MS);
      expect(await service.command('ledger', 'check')).toMatchObject({ code: 0, stdout: 'ledger exact\n' });
      const { relayPid } = service;
      expect(await query(service, 'SELECT pid FROM processes')).toEqual([{ pid: relayPid }]);
      await service.stop();
      await restart();
      expect(await query(service, 'SELECT pid FROM processes')).toEqual([{ pid: service.relayPid }]);
      expect(service.output).not.toContain('A process died');
    },
    2 * PATIENCE_MS,
  );
});

/** Open calls of others than the process that listens. */
const ORPHANS = `
  SELECT o.id FROM open_calls o
   WHERE NOT EXISTS (SELECT FROM processes p WHERE p.id = o.process_id AND p.pid = $1)`;
const UNSETTLED = 'SELECT id FROM open_calls o WHERE NOT EXISTS (SELECT FROM calls c WHERE c.id = o.id)';
/** With six clients that never rest, some calls were open. */
const INTERRUPTED = `
  SELECT DISTINCT billing_basis, cost, uncollected AS lost FROM calls WHERE status = 'interrupted'`;

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

async function backendOf(service: Service, role: string): Promise<number> {
  const found = 'SELECT pid FROM pg_stat_activity WHERE application_name LIKE $1';
  const [backend] = await query<{ pid: number }>(service, found, [`% ${role}`]);
  return backend?.pid ?? Number.NaN;
}

async function query<Row>({ dataDir }: Service, text: string, values: unknown[] = []): Promise<Row[]> {
  const { port, password } = readState(dataDir) ?? {};
  const client = new pg.Client({ connectionString: `postgres://postgres:${password}@127.0.0.1:${port}/postgres` });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
