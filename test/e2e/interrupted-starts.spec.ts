import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { ordinaryUser } from '../support/ordinary-user.js';
import { freePort } from '../support/ports.js';
import { Service } from '../support/service.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

const user = ordinaryUser();
/** As root, whoever stands for an ordinary user must be able to reach this checkout. */
const asOrdinaryUser = user === undefined ? it.skip : it;

let dataDir: string;
const services: Service[] = [];
beforeEach(() => (dataDir = temporaryDataDir()));
afterEach(async () => {
  for (const service of services.splice(0)) {
    await service.stop();
    service.killLeftOver();
  }
  removeDataDir(dataDir);
}, TIMEOUT_MS);

const launch: typeof Service.launch = (...args) => {
  const service = Service.launch(...args);
  services.push(service);
  return service;
};
const start = async (environment?: Record<string, string>): Promise<Service> => {
  const service = launch(dataDir, environment);
  await service.untilPrinted(/Switchboard is at/);
  return service;
};
const firstRuns = (...all: Service[]): number => all.filter(({ output }) => output.includes('First API key')).length;
const ready = async ({ address }: Service): Promise<number> => (await fetch(`${address}/readyz`)).status;

const expectRefusal = async (service: Service, line: RegExp): Promise<void> => {
  await service.ended;
  expect(service.wrapper.exitCode).toBe(1);
  expect(service.errors).toHaveLength(1);
  expect(service.errors[0]).toMatch(line);
  expect(service.databaseRuns).toBe(false);
};

/** How far a start has come. */
const MOMENTS: Readonly<Record<string, (service: Service) => boolean>> = {
  'as soon as it begins with the database': () => existsSync(join(dataDir, 'postgres.lock')),
  'while the folder of the database is filled': () =>
    readdirSync(dataDir).some((name) => existsSync(join(dataDir, name, 'data/global'))),
  'while the database comes up': () => existsSync(join(dataDir, 'postgres/postmaster.pid')),
  'during its migrations': ({ output }) => output.includes('Migrated: '),
};
/** A first start that has come so far. Some moments are short: one that was missed is waited for in another start. */
async function startUntil(moment: string): Promise<Service> {
  const missed = /Switchboard is at/;
  for (let tries = 1; tries <= 10; tries += 1) {
    const service = launch(dataDir);
    await eventually(() => expect(MOMENTS[moment]?.(service) || missed.test(service.output)).toBe(true), TIMEOUT_MS);
    if (!missed.test(service.output)) return service;
    await service.stop();
    removeDataDir(dataDir);
    dataDir = temporaryDataDir();
  }
  throw new Error(`No start was seen ${moment}.`);
}

describe('a first start that is ended half way', () => {
  /** Everything is gone, nothing was said but what belongs there, and the next start is as the first. */
  const expectNothingLeft = async (ended: Service): Promise<void> => {
    await ended.ended;
    expect(ended.errors).toEqual([]);
    expect(ended.databaseRuns).toBe(false);
    expect(ended.hasPidFile).toBe(false);
    const next = await start();
    expect(firstRuns(ended, next)).toBe(1);
    expect(await ready(next)).toBe(200);
  };

  it.each(Object.keys(MOMENTS))(
    'leaves nothing running when its wrapper is killed %s',
    async (moment) => {
      const service = await startUntil(moment);
      await service.stop('SIGKILL');
      await expectNothingLeft(service);
    },
    4 * TIMEOUT_MS,
  );

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends in order on %s',
    async (signal) => {
      const service = await startUntil('while the database comes up');
      expect(await service.stop(signal)).toBe(0);
      await expectNothingLeft(service);
    },
    4 * TIMEOUT_MS,
  );

  it(
    'is made good by the next when wrapper and server are killed',
    async () => {
      const service = await startUntil('while the database comes up');
      process.kill(service.serverPid, 'SIGKILL');
      process.kill(service.wrapper.pid ?? Number.NaN, 'SIGKILL');
      await service.ended;
      const next = await start();
      expect(firstRuns(service, next)).toBe(1);
      expect(await ready(next)).toBe(200);
      await next.stop();
      expect(next.databaseRuns).toBe(false);
    },
    4 * TIMEOUT_MS,
  );

  it(
    'succeeds or says in one line what to do when the database is killed',
    async () => {
      const service = await startUntil('during its migrations');
      process.kill(service.postgresPid, 'SIGKILL');
      await eventually(() => expect(service.output).toMatch(/^error: |^Switchboard is at/m), TIMEOUT_MS);
      if (service.address === '')
        await expectRefusal(service, /^error: The database connection was lost during startup \(.*\). Start again\.$/);
      else await service.stop();
      expect(await ready(await start())).toBe(200);
    },
    4 * TIMEOUT_MS,
  );
});

describe('npm that is killed', () => {
  it(
    'takes the wrapper, the server and the database with it',
    async () => {
      const service = launch(dataDir, {}, { npm: true });
      await service.untilPrinted(/Switchboard is at/);
      await service.stop('SIGKILL');
      await service.ended;
      expect(service.databaseRuns).toBe(false);
      expect(service.hasPidFile).toBe(false);
    },
    4 * TIMEOUT_MS,
  );
});

describe('two first starts at once in one data folder', () => {
  it(
    'share one database and one first run, each on a port of its own',
    async () => {
      const [one, other] = await Promise.all([start(), start()]);
      expect(firstRuns(one, other)).toBe(1);
      const authorization = `Bearer ${/sk-\w+/.exec(one.output + other.output)?.[0]}`;
      for (const { address } of [one, other])
        expect((await fetch(`${address}/v1/key`, { headers: { authorization } })).status).toBe(200);
      expect(await one.stop()).toBe(0);
      expect(await ready(other)).toBe(200);
      expect(await other.stop()).toBe(0);
      expect(other.databaseRuns).toBe(false);
    },
    4 * TIMEOUT_MS,
  );

  it(
    'leave one server on one port, and the other says in one line what to do',
    async () => {
      const PORT = String(await freePort());
      const both = [launch(dataDir, { PORT }), launch(dataDir, { PORT })];
      await eventually(() => expect(both.some(({ wrapper }) => wrapper.exitCode !== null)).toBe(true), TIMEOUT_MS);
      const [loser, winner] = both.toSorted((a, b) => (b.wrapper.exitCode ?? -1) - (a.wrapper.exitCode ?? -1));
      expect(loser?.wrapper.exitCode).toBe(1);
      await loser?.ended;
      expect(loser?.errors).toEqual([
        `error: Port ${PORT} of 127.0.0.1 is already in use. Set PORT to a free port, or stop the process that uses it.`,
      ]);
      await winner?.untilPrinted(/First API key/);
      expect(await (winner && ready(winner))).toBe(200);
      expect(winner?.hasPidFile).toBe(true);
    },
    4 * TIMEOUT_MS,
  );
});

describe('a start that cannot be', () => {
  asOrdinaryUser('says in one line that DATA_DIR may not be written', async () => {
    const { uid = 0, gid = 0, switched = false } = user ?? {};
    if (!switched) chmodSync(dataDir, 0o555);
    await expectRefusal(
      launch(dataDir, {}, switched ? { user: { uid, gid } } : {}),
      /^error: DATA_DIR \(\S+\) must be a directory writable by this user: /,
    );
    chmodSync(dataDir, 0o755);
  });

  it('says in one line that DATA_DIR is no folder', async () => {
    const file = join(dataDir, 'file');
    writeFileSync(file, '');
    await expectRefusal(launch(file), /^error: DATA_DIR \(\S+\) must be a directory writable by this user: /);
  });

  it(
    'says in one line what to do with the database of another version',
    async () => {
      const first = await start();
      await first.stop();
      const versionFile = join(dataDir, 'postgres/PG_VERSION');
      const version = readFileSync(versionFile, 'utf8');
      writeFileSync(versionFile, '15\n');
      await expectRefusal(
        launch(dataDir),
        /^error: The embedded database in \S+ was created by PostgreSQL 15; this version uses 18. Make a backup /,
      );
      writeFileSync(versionFile, version);
    },
    3 * TIMEOUT_MS,
  );
});
