import { TIMEOUT_MS } from '../support/eventually.js';
import { untilGone } from '../support/processes.js';
import { kill, ServiceUnderLoad } from '../support/service-under-load.js';

describe('kill -9 while clients call', () => {
  let busy: ServiceUnderLoad;

  beforeAll(async () => {
    busy = await ServiceUnderLoad.start();
  }, 2 * TIMEOUT_MS);
  beforeEach(() => busy.untilBusy(), TIMEOUT_MS);
  afterAll(() => busy.close(), 60_000);

  it(
    'of the server leaves the database to be adopted',
    async () => {
      const { postgresPid } = busy.service;
      await busy.killDuringCall();
      await busy.service.ended;
      expect(busy.service.wrapper.exitCode).toBe(128 + 9);
      await busy.restart();
      expect(busy.service.postgresPid).toBe(postgresPid);
      await busy.expectSwept();
      await busy.expectRecovery();
      expect(await busy.query(INTERRUPTED)).toEqual([{ billing_basis: 'free', cost: '0', lost: '0' }]);
    },
    2 * TIMEOUT_MS,
  );

  it(
    'of the wrapper ends the server in order, and the database with it',
    async () => {
      const { relayPid, postgresPid } = busy.service;
      kill(busy.service.wrapper.pid ?? Number.NaN);
      await busy.service.ended;
      await Promise.all([relayPid, postgresPid].map(untilGone));
      expect(busy.service.hasPidFile).toBe(false);
      await busy.restart();
      await busy.expectSwept();
      await busy.expectRecovery();
    },
    2 * TIMEOUT_MS,
  );

  it(
    'of the database, again and again, is mended by the server itself',
    async () => {
      const { relayPid } = busy.service;
      for (let time = 1; time <= 3; time += 1) await busy.killDatabase();
      await busy.expectRecovery();
      expect(busy.service.relayPid).toBe(relayPid);
      expect((await fetch(`${busy.service.address}/readyz`)).status).toBe(200);
    },
    2 * TIMEOUT_MS,
  );

  it.each(['settlement', 'admission', 'keeper', 'presence'])(
    'of the database process behind a %s connection is mended by the database',
    async (role) => {
      const { relayPid, postgresPid } = busy.service;
      kill(await backendOf(busy, role));
      await busy.expectRecovery();
      expect(busy.service.relayPid).toBe(relayPid);
      expect(busy.service.postgresPid).toBe(postgresPid);
    },
    2 * TIMEOUT_MS,
  );

  it(
    'of server and database at once is mended by the next start',
    async () => {
      kill(busy.service.relayPid, busy.service.postgresPid);
      await busy.service.ended;
      expect(busy.service.databaseRuns).toBe(false);
      await busy.restart();
      await busy.expectSwept();
      await busy.expectRecovery();
    },
    2 * TIMEOUT_MS,
  );

  it(
    'of database, server and wrapper at once is mended by the next start',
    async () => {
      kill(busy.service.postgresPid, busy.service.relayPid, busy.service.wrapper.pid ?? Number.NaN);
      await busy.service.ended;
      await busy.restart();
      expect(busy.service.databaseRuns).toBe(true);
      await busy.expectSwept();
      await busy.expectRecovery();
    },
    2 * TIMEOUT_MS,
  );

  it(
    'leaves no call open in the end, and the server none behind that stops in order',
    async () => {
      await busy.load.stop();
      await busy.expectNothingOpen();
      expect(await busy.service.command('ledger', 'check')).toMatchObject({ code: 0, stdout: 'ledger exact\n' });
      const { relayPid } = busy.service;
      expect(await busy.query('SELECT pid FROM processes')).toEqual([{ pid: relayPid }]);
      await busy.service.stop();
      await busy.restart();
      expect(await busy.query('SELECT pid FROM processes')).toEqual([{ pid: busy.service.relayPid }]);
      expect(busy.service.output).not.toContain('A process died');
    },
    2 * TIMEOUT_MS,
  );
});

const INTERRUPTED = `
  SELECT DISTINCT billing_basis, cost, uncollected AS lost FROM calls WHERE status = 'interrupted'`;

async function backendOf(busy: ServiceUnderLoad, role: string): Promise<number> {
  const found = 'SELECT pid FROM pg_stat_activity WHERE application_name LIKE $1';
  const [backend] = await busy.query<{ pid: number }>(found, [`% ${role}`]);
  return backend?.pid ?? Number.NaN;
}
