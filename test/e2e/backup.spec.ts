import { jest } from '@jest/globals';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { programVersion } from '../../src/platform/backup/backup-format.js';
import { MIGRATION_NAMES } from '../../src/platform/database/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { AllowanceService } from '../../src/wallet/index.js';
import { ask, BackupWorld, OLD_SECRET_KEY } from '../support/backups.js';
import type { Outcome } from '../support/command-line.js';
import { aRequest } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { Load, unhurried } from '../support/load.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, gate, waitFor } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';
import { TestProcess } from '../support/sweep-bench.js';

const EXACT = { code: 0, stdout: 'ledger exact\n', stderr: '' };

// Processes start, and databases are made.
jest.setTimeout(4 * TIMEOUT_MS);

describe('a backup of a service that runs, and what is restored from it', () => {
  const world = new BackupWorld();
  const file = world.file('switchboard.backup');
  const open = gate();
  let relay: RelayApp;
  let caller: TestCaller;
  let backup: Outcome;

  const call = (address: string): Promise<Response> =>
    fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(aRequest('chat-completions')),
    });
  const start = async (dataDir: string | undefined, variables: Record<string, string>): Promise<Service> => {
    const service = await Service.start(dataDir, { SECRET_KEY: OLD_SECRET_KEY, DEMO: 'off', ...variables });
    world.afterwards(() => (dataDir === undefined ? service.remove() : service.stop()));
    return service;
  };

  beforeAll(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller();
    await relay.get(AllowanceService).set(caller.accountId, parseUsd('20'));
    // One call is open before the backup and after it; those of the load come and go.
    relay.upstream.scriptNext([waitFor(open), responseIn('chat-completions')]);
    void call(relay.url).catch(() => undefined);
    await relay.upstream.nextRequest();
    relay.upstream.script(unhurried);
    const load = new Load(() => relay.url, caller.key);
    await load.untilMore(20);
    await ask(relay.databaseUrl, `INSERT INTO sql_checksums (name, checksum) VALUES ('of-the-source.sql', '')`);
    backup = await world.command({ DATABASE_URL: relay.databaseUrl }, 'backup', file);
    await load.untilMore(20);
    await load.stop();
  });
  afterEach(() => world.clear());
  afterAll(async () => {
    open.open();
    await relay.close();
    world.remove();
  });

  it('is a file that only its owner reads, and begins with what it is', () => {
    expect(backup).toMatchObject({ code: 0 });
    expect(backup.stdout).toMatch(/^backup of \d+ tables, [\d,]+ rows, [1-9][\d,]* kB in .*switchboard\.backup\n$/);
    expect(backup.stderr).toContain('The backup does not contain SECRET_KEY');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [header = ''] = readFileSync(file, 'latin1').split('\n', 1);
    expect(JSON.parse(header)).toMatchObject({ switchboard: 'backup', format: 1, version: programVersion() });
    expect(readFileSync(file, 'latin1')).not.toContain(OLD_SECRET_KEY);
    expect(readdirSync(world.folder)).toEqual(['switchboard.backup']);
  });

  it('is one moment of it: elsewhere the ledger is exact, and calls go on with the old key', async () => {
    const { url } = await world.emptyDatabase();
    expect(await world.command({ DATABASE_URL: url }, 'restore', file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(`^restored \\d+ tables, [\\d,]+ rows, as they were at \\S+Z under version ${programVersion()}\\n$`),
      ),
      stderr: 'SECRET_KEY matches the backup.\n',
    });
    expect(await world.command({ DATABASE_URL: url }, 'ledger', 'check')).toEqual(EXACT);
    expect((await ask(url, 'SELECT FROM calls')).length).toBeGreaterThanOrEqual(20);
    // Given for this month, so not again, and to be given for the next.
    const allowance = 'SELECT amount, granted, ended_at FROM allowances JOIN allowance_months USING (account_id)';
    expect(await ask(url, allowance)).toEqual([
      { amount: parseUsd('20').toString(), granted: parseUsd('20').toString(), ended_at: null },
    ]);

    const service = await start(undefined, { DATABASE_URL: url });
    expect((await call(service.address)).status).toBe(200);
    expect(await world.command({ DATABASE_URL: url }, 'ledger', 'check')).toEqual(EXACT);
  });

  it('has the calls that were open, which are closed without a charge where it is restored', async () => {
    const database = await world.emptyDatabase();
    await world.command({ DATABASE_URL: database.url }, 'restore', file);
    expect((await ask(database.url, 'SELECT FROM open_calls')).length).toBeGreaterThan(0);
    const process = await TestProcess.start(database, { heartbeatMs: 50, deadAfterMs: 500 });
    await eventually(async () => {
      await process.sweep();
      expect(await ask(database.url, 'SELECT FROM open_calls')).toHaveLength(0);
    });
    await process.close();
    expect(await ask(database.url, 'SELECT held, holds FROM wallets')).toEqual([{ held: '0', holds: 0 }]);
    expect(await world.command({ DATABASE_URL: database.url }, 'ledger', 'check')).toEqual(EXACT);
  });

  it('leaves functions to the program that restores it', async () => {
    const { url } = await world.emptyDatabase();
    await world.command({ DATABASE_URL: url }, 'restore', file);
    const applied = (database: string) => ask(database, 'SELECT name, checksum FROM sql_checksums ORDER BY 1');
    const ours = (await applied(relay.databaseUrl)) as { name: string }[];
    expect(await applied(url)).toEqual(ours.filter(({ name }) => name !== 'of-the-source.sql'));
  });

  it('leads into the embedded server, and back out of it', async () => {
    const dataDir = world.emptyDataDir();
    expect(await world.command({ DATA_DIR: dataDir }, 'restore', file)).toMatchObject({ code: 0 });
    const service = await start(dataDir, {});
    expect((await call(service.address)).status).toBe(200);

    const again = world.file('again.backup');
    expect(await service.command('backup', again)).toMatchObject({ code: 0 });
    const { url } = await world.emptyDatabase();
    expect(await world.command({ DATABASE_URL: url }, 'restore', again)).toMatchObject({ code: 0 });
    expect(await world.command({ DATABASE_URL: url }, 'ledger', 'check')).toEqual(EXACT);
  });

  it('says in words that the SECRET_KEY differs, and what to do about it', async () => {
    const { url } = await world.emptyDatabase();
    const variables = { DATABASE_URL: url, SECRET_KEY: 'quite another secret'.padEnd(32, '.') };
    const { code, stderr } = await world.command(variables, 'restore', file);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^SECRET_KEY differs from the one the backup was made with\. .*cannot be decrypted\. Put the original key into /,
    );
  });
});

describe('switchboard migrate', () => {
  const world = new BackupWorld();
  afterEach(() => world.clear());
  afterAll(() => world.remove());

  it('makes an empty database current, and changes a current one no more', async () => {
    const { url } = await world.emptyDatabase();
    const applied = (): Promise<unknown[]> => ask(url, 'SELECT * FROM migrations ORDER BY id');
    const done = { code: 0, stdout: 'migrations applied\n', stderr: '' };
    expect(await world.command({ DATABASE_URL: url }, 'migrate')).toEqual(done);
    const first = await applied();
    expect(first).toHaveLength(MIGRATION_NAMES.length);
    expect(await world.command({ DATABASE_URL: url }, 'migrate')).toEqual(done);
    expect(await applied()).toEqual(first);
  });
});
