import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from '../../src/platform/database/process-identity.js';
import { readState } from '../../src/platform/database/embedded/state-file.js';
import { Checkout } from '../support/checkout.js';
import { TIMEOUT_MS } from '../support/eventually.js';
import { ordinaryUser } from '../support/ordinary-user.js';
import { Service } from '../support/service.js';
import { removeDataDir } from '../support/temporary-data-dir.js';

const isRoot = process.getuid?.() === 0;
/** Only root runs PostgreSQL as somebody else, who may not get everywhere. */
const asRoot = isRoot ? it : it.skip;
const user = ordinaryUser();
/** As root, whoever stands for an ordinary user must be able to get here. */
const asOrdinaryUser = user === undefined ? it.skip : it;

/** No two tests, on this machine, share a copy of the programs: it is named after their version. */
const version = (number: number): string => `18.4.0-test-${process.pid}-${number}`;
const copiesOf = (label: string): string[] =>
  readdirSync('/var/tmp').filter((name) => name.startsWith(`switchboard-postgres-${label}`));

describe('a checkout in a place that is not made for it', () => {
  let home: string;
  let service: Service | undefined;
  const checkouts: Checkout[] = [];

  beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'switchboard-home-'))));
  afterEach(async () => {
    await service?.stop();
    service?.killLeftOver();
    if (service !== undefined) {
      const place = readState(service.dataDir)?.place;
      removeDataDir(service.dataDir);
      if (place !== undefined) rmSync(place, { recursive: true, force: true });
    }
    service = undefined;
    for (const name of copiesOf(version(0).slice(0, -1))) rmSync(join('/var/tmp', name), { recursive: true });
    for (const { libraries } of checkouts.splice(0)) chmodSync(libraries, 0o755);
    rmSync(home, { recursive: true, force: true });
  }, TIMEOUT_MS);

  const makeCheckout = (): Checkout => {
    const checkout = Checkout.make(join(home, 'switchboard'));
    checkouts.push(checkout);
    return checkout;
  };
  const start = async ({ folder }: Checkout, as?: { uid: number; gid: number }): Promise<Service> => {
    service = Service.launch(join(folder, 'data'), {}, { checkout: folder, ...(as && { user: as }) });
    await service.untilPrinted(/Switchboard is at/);
    return service;
  };
  const callsAnswer = async ({ address, output }: Service, key = /sk-\w+/.exec(output)?.[0]): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ model: 'demo', max_output_tokens: 16, input: 'Hello' });
    return (await fetch(`${address}/v1/responses`, { method: 'POST', headers, body })).status;
  };

  asRoot(
    'runs below a home of mode 0700, over new versions of PostgreSQL and damage to its copy',
    async () => {
      const checkout = Checkout.make(join(home, 'switchboard'));
      checkout.relabel(version(1));
      const first = await start(checkout);
      const key = /sk-\w+/.exec(first.output)?.[0];
      expect(await callsAnswer(first)).toBe(200);
      expect(first.output).toMatch(/The embedded database is stored in \/var\/tmp\/switchboard-/);
      expect(first.output).toContain(`Copying PostgreSQL ${version(1)} to /var/tmp/`);
      expect(commandLine(first.postgresPid)).toMatch(/^\/var\/tmp\/switchboard-postgres-/);
      await first.stop();

      const unchanged = await start(checkout);
      expect(unchanged.output).not.toContain('Copying');
      await unchanged.stop();

      const [copy = ''] = copiesOf(version(1));
      truncateSync(join('/var/tmp', copy, 'native/bin/postgres'), 1000);
      const damaged = await start(checkout);
      expect(damaged.output).toContain(`Copying PostgreSQL ${version(1)}`);
      await damaged.stop();

      // The copy of the older version stays where it is, and is not used.
      checkout.relabel(version(2));
      const renewed = await start(checkout);
      expect(renewed.output).toContain(`Copying PostgreSQL ${version(2)}`);
      expect(commandLine(renewed.postgresPid)).toContain(version(2));
      expect(await callsAnswer(renewed, key)).toBe(200);
      expect(await renewed.command('ledger', 'check')).toMatchObject({ code: 0, stdout: 'ledger exact\n' });
    },
    2 * TIMEOUT_MS,
  );

  it(
    'makes the links between libraries that an install script was not allowed to make',
    async () => {
      chmodSync(home, 0o755);
      const checkout = makeCheckout();
      expect(checkout.hasLinks).toBe(false);
      expect(await callsAnswer(await start(checkout))).toBe(200);
      expect(checkout.hasLinks).toBe(true);
      expect(service?.output).not.toContain('Copying');
    },
    2 * TIMEOUT_MS,
  );

  asOrdinaryUser(
    'runs a copy where those links are missing and node_modules may not be written',
    async () => {
      chmodSync(home, 0o755);
      const checkout = Checkout.make(join(home, 'switchboard'));
      checkout.relabel(version(3));
      const { uid = 0, gid = 0, switched = false } = user ?? {};
      const data = join(checkout.folder, 'data');
      chmodSync(checkout.libraries, 0o555);
      if (switched) makeOwned(data, uid, gid);
      expect(await callsAnswer(await start(checkout, switched ? { uid, gid } : undefined))).toBe(200);
      expect(checkout.hasLinks).toBe(false);
      expect(existsSync(join('/var/tmp', copiesOf(version(3))[0] ?? '-', 'native/bin/postgres'))).toBe(true);
      chmodSync(checkout.libraries, 0o755);
    },
    2 * TIMEOUT_MS,
  );
});

function makeOwned(folder: string, uid: number, gid: number): void {
  mkdirSync(folder);
  chownSync(folder, uid, gid);
}
