import { DataSource } from 'typeorm';
import { KeyNoticeMails } from '../../src/keys/alerts/index.js';
import { type KeyNotice, KeyNotices, KeyWatch } from '../../src/keys/index.js';
import { AccountDeletion } from '../../src/keys/onboarding/onboarding.service.js';
import { newId, parseUsd } from '../../src/platform/shared/index.js';
import { AlertsWorld } from '../support/alerts-world.js';
import { aCallRow } from '../support/call-rows.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOME = '192.0.2.1';
const AWAY = '203.0.113.7';

describe('what keys are used for', () => {
  let world: AlertsWorld;
  let keyId: string;
  const now = Date.now();
  beforeEach(async () => {
    world = await AlertsWorld.start();
    await world.query(`SELECT create_call_partitions(now() - interval '2 months', 3)`);
    keyId = await world.key({ name: 'laptop' });
  });
  afterEach(() => world.close());

  type Overrides = Partial<Parameters<typeof aCallRow>[1]>;
  const call = async (agoMs: number, ip: string, overrides: Overrides = {}): Promise<void> => {
    const at = now - agoMs;
    const row = { accountId: world.accountId, keyId, createdAt: new Date(at).toISOString(), ip, ...overrides };
    await aCallRow(world.get(DataSource), { id: newId('req', at), ...row });
  };
  const scan = (app = world.app): Promise<void> => world.get(KeyWatch, app).scan();
  const notices = (): Promise<readonly KeyNotice[]> => world.get(KeyNotices).open(world);

  describe('raises a notice of a first use from a new network', () => {
    it('once, however many processes look at once, and of a call that still runs', async () => {
      await call(5 * DAY_MS, HOME);
      await scan();
      expect(await notices()).toEqual([]);
      await world.query(
        `INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, group_name, protocol, stream,
           effort, ip, snapshot) VALUES ($1, $2, $3, 0, 'prs_x', 'm', now(), 'default', 'responses', true, '', $4, '{}')`,
        [newId('req', now), world.accountId, keyId, AWAY],
      );
      const other = await world.process();
      await Promise.all([scan(), scan(other), scan(), scan(other)]);
      await call(0, '203.0.113.99');
      await scan(other);
      expect(await notices()).toMatchObject([
        { kind: 'new-network', keyId, keyName: 'laptop', address: AWAY, network: '203.0.113.0/24' },
      ]);
    });

    it('which is mailed once, and gone when it is acknowledged or the key is disabled', async () => {
      await call(5 * DAY_MS, HOME);
      await call(60_000, AWAY);
      await scan();
      const other = await world.process();
      for (const app of [world.app, other, world.app]) {
        await world.get(KeyNoticeMails, app).scan();
        await world.scan(app);
      }
      expect(world.subjects).toEqual(['Key “laptop” was used from a new network']);
      const [notice] = await notices();
      const someoneElse = { accountId: 'acc_other', id: keyId };
      await world.get(KeyNotices).acknowledge(someoneElse, notice!.id);
      expect(await notices()).toHaveLength(1);
      await world.query(`UPDATE api_keys SET state = 'disabled' WHERE id = $1`, [keyId]);
      expect(await notices()).toEqual([]);
      await world.query(`UPDATE api_keys SET state = 'enabled' WHERE id = $1`, [keyId]);
      await world.get(KeyNotices).acknowledge({ accountId: world.accountId, id: keyId }, notice!.id);
      expect(await notices()).toEqual([]);
    });

    it.each([
      ['a new key', 2 * DAY_MS, {}, {}],
      ['a key that names its networks', 5 * DAY_MS, { networks: ['192.0.2.0/24', '203.0.113.0/24'] }, {}],
      ['a call that was refused', 5 * DAY_MS, {}, { status: 'refused', errorReason: 'insufficient quota' }],
      ['a call whose address is not known', 5 * DAY_MS, {}, { ip: '' }],
    ])('and none of %s', async (_, ageMs, settings, overrides) => {
      keyId = await world.key(settings);
      await call(ageMs, HOME);
      await call(60_000, AWAY, overrides);
      await scan();
      expect(await notices()).toEqual([]);
    });

    it('also of a call that took an hour to be written, when its time is summed up', async () => {
      await call(5 * DAY_MS, HOME);
      await scan();
      await world.query(`UPDATE key_use_sums SET summed_until = now() - interval '6 hours'`);
      await world.query(`UPDATE key_watch SET learnt_until = now() - interval '6 hours'`);
      await call(4 * HOUR_MS, AWAY);
      await scan();
      expect(await notices()).toMatchObject([{ address: AWAY }]);
    });
  });

  describe('raises a notice of a volume far above the usual', () => {
    const spend = (agoMs: number, usd: string): Promise<void> => call(agoMs, HOME, { cost: parseUsd(usd) });

    it('with the hour and the largest one before, once a day', async () => {
      await spend(5 * DAY_MS, '1.25');
      await spend(30 * HOUR_MS, '0.5');
      await spend(40 * 60_000, '4');
      await spend(20 * 60_000, '2.26');
      await scan();
      const [notice, ...others] = await notices();
      expect(notice).toMatchObject({ kind: 'unusual-volume', spent: parseUsd('6.26'), usual: parseUsd('1.25') });
      expect(others).toEqual([]);
      await spend(0, '50');
      await scan(await world.process());
      expect(await notices()).toHaveLength(1);
    });

    it('and none of what is five times the largest hour, whether that is summed up yet or not', async () => {
      await spend(5 * DAY_MS, '1.25');
      await spend(20 * 60_000, '6.25');
      await scan();
      expect(await notices()).toEqual([]);
      // Ended an hour ago, and is read call by call.
      await spend(61 * 60_000, '2');
      await spend(10 * 60_000, '3.75');
      await scan(await world.process());
      expect(await notices()).toEqual([]);
    });
  });

  it('goes with the account', async () => {
    await call(5 * DAY_MS, HOME);
    await call(60_000, AWAY);
    await scan();
    await world.get(AccountDeletion).run(world.accountId);
    for (const table of ['key_notices', 'key_networks'])
      expect(await world.query(`SELECT * FROM ${table}`)).toEqual([]);
  });
});
