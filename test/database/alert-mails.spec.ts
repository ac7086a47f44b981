import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { AlertPreferences, DEFAULT_ALERTS } from '../../src/keys/alerts/account-notices.js';
import { AlertSender } from '../../src/keys/alerts/alert-sender.js';
import { AlertQueue, AlertWatch, ThresholdWatch } from '../../src/keys/alerts/index.js';
import { ApiKeyService, KeyNotices } from '../../src/keys/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Metrics } from '../../src/platform/metrics/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { AlertsWorld } from '../support/alerts-world.js';
import { DatabaseOutage } from '../support/database-outage.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';

const LOW = 'Your balance is below $20.00';
/** What an SMTP server says when it cannot take mail now, and when it never will. */
const NOT_NOW = 451;
const NEVER = 550;

describe('mails of alerts', () => {
  let world: AlertsWorld;
  beforeEach(async () => {
    world = await AlertsWorld.start();
  });
  afterEach(() => world.close());

  const states = async (): Promise<readonly string[]> =>
    (await world.query<{ state: string }>('SELECT state FROM alerts ORDER BY raised_at, kind')).map(
      ({ state }) => state,
    );
  const makeDue = (): Promise<unknown> => world.query('UPDATE alerts SET next_try_at = now()');
  const counted = async (): Promise<string> => {
    const lines = (await world.get(Metrics).registry.metrics()).split('\n');
    return lines.filter((line) => line.startsWith('switchboard_alerts_total')).join('\n');
  };

  it('go out once, whichever of many processes looks and sends at the same time', async () => {
    const others = await Promise.all([world.process(), world.process()]);
    await world.set({ walletBelow: parseUsd('20') });
    for (let count = 0; count < 8; count += 1)
      await world.use(await world.key({ quota: parseUsd('1'), name: `key ${count}` }), '0.9');
    const processes = [world.app, ...others];
    await Promise.all([...processes, ...processes].map((app) => world.scan(app)));
    await world.scan();
    expect(world.subjects).toHaveLength(9);
    expect(new Set(world.subjects).size).toBe(9);
  });

  it('go to those who manage the wallet when they are about an organization, never to its own address', async () => {
    const id = 'org_1';
    const made = [
      `INSERT INTO accounts (id, email, name, kind, verified_at)
       VALUES ('org_1', 'org_1@organization.invalid', 'Acme', 'organization', now())`,
      `INSERT INTO organizations (id) VALUES ('org_1')`,
      `INSERT INTO wallets (account_id) VALUES ('org_1')`,
    ];
    for (const sql of made) await world.query(sql);
    for (const role of ['owner', 'admin', 'billing', 'member', 'viewer']) {
      const { id: person } = await world
        .get(Onboarding)
        .createAccount({ email: `${role}@example.com`, verified: role !== 'admin' });
      await world.query('INSERT INTO members (id, organization_id, account_id, role) VALUES ($1, $2, $3, $4)', [
        `mem_${role}`,
        id,
        person,
        role,
      ]);
    }
    await world.get(AlertPreferences).save(id, { ...DEFAULT_ALERTS, walletBelow: parseUsd('20') });
    await world.scan();
    const [mail, ...others] = world.mailbox.mails.filter(({ message }) => message.subject === `Acme: ${LOW}`);
    expect(others).toEqual([]);
    expect(mail?.to.toSorted()).toEqual(['billing@example.com', 'owner@example.com']);
    expect(mail?.message.text).toContain('because you manage the wallet of Acme');
  });

  it('are tried again later, by whichever process lives, while the mail server does not take them', async () => {
    await world.set({ walletBelow: parseUsd('20') });
    world.mailbox.refusals.push(NOT_NOW, NOT_NOW);
    await world.scan();
    await world.scan();
    expect([world.subjects, world.mailbox.refusals.length]).toEqual([[], 1]);
    const [waits] = await world.query<{ ms: number }>(
      `SELECT extract(epoch FROM next_try_at - now())::float * 1000 AS ms FROM alerts`,
    );
    expect(waits?.ms).toBeGreaterThan(10_000);
    expect(waits?.ms).toBeLessThanOrEqual(15_000);
    await makeDue();
    const other = await world.process();
    await world.scan(other);
    expect(world.mailbox.refusals).toHaveLength(0);
    await world.credit('-2.5');
    await makeDue();
    await world.scan(other);
    expect(world.subjects).toEqual([LOW]);
    // As things stand when it is sent.
    expect((await world.mailbox.latestTo('ann@example.com')).message.text).toContain('Balance: $7.50');
  });

  it('are not sent when what they warn of is over before they could be', async () => {
    await world.set({ walletBelow: parseUsd('20') });
    world.mailbox.refusals.push(NOT_NOW);
    await world.scan();
    await world.credit('15');
    await makeDue();
    await world.scan();
    expect([world.subjects, await states()]).toEqual([[], []]);
  });

  it('are not sent of an expiry that has passed before they could be', async () => {
    await world.key({ expiresAt: new Date(Date.now() + 60_000) });
    world.mailbox.refusals.push(NOT_NOW);
    await world.scan();
    expect([world.mailbox.refusals, await states()]).toEqual([[], ['due']]);
    // Between two looks: the row is still there.
    await world.query(`UPDATE api_keys SET expires_at = now() - interval '1 second'`);
    await makeDue();
    await world.get(AlertSender).sendDue(new AbortController().signal);
    expect(world.subjects).toEqual([]);
    await world.scan();
    expect([world.subjects, await states()]).toEqual([[], []]);
  });

  it('are given up when the server will never take them, or after a day', async () => {
    await world.set({ walletBelow: parseUsd('20') });
    world.mailbox.refusals.push(NEVER);
    await world.scan();
    await makeDue();
    await world.scan();
    expect([world.subjects, await states()]).toEqual([[], ['refused']]);
    await world.query(`UPDATE alerts SET state = 'due', raised_at = now() - interval '25 hours'`);
    await world.scan();
    expect([world.subjects, await states()]).toEqual([[], ['stale']]);
    expect(await counted()).toBe(
      'switchboard_alerts_total{kind="wallet",outcome="refused"} 1\nswitchboard_alerts_total{kind="wallet",outcome="stale"} 1',
    );
  });

  it('that a process had taken up when it died are sent by another one, once it is sure', async () => {
    await world.set({ walletBelow: parseUsd('20') });
    // As a process leaves it that dies in between: taken up, and nothing more.
    const dead = await world.process();
    await world.get(ThresholdWatch, dead).scan();
    expect(await world.get(AlertQueue, dead).claim(300)).toMatchObject({ kind: 'wallet', tries: 1 });
    await world.scan();
    expect(world.subjects).toEqual([]);
    await sleep(300);
    await world.scan();
    expect(world.subjects).toEqual([LOW]);
  });

  it('are noted as sent after the database comes back, when it was lost in between', async () => {
    const outage = await DatabaseOutage.of(world.database.url);
    await world.set({ walletBelow: parseUsd('20') });
    const app = await world.process({ scanEveryMs: 20, claimMs: 1000 });
    let hurt = false;
    // The mail is taken, and the database is gone before that can be noted.
    world.mailbox.whileTaking = async () => {
      if (!hurt) await outage.begin();
      hurt = true;
    };
    world.get(AlertWatch, app).start();
    await world.mailbox.latestTo('ann@example.com');
    await sleep(200);
    await outage.end();
    await eventually(async () => expect(await states()).toEqual(['sent']), TIMEOUT_MS);
    await sleep(1200);
    expect(world.subjects).toEqual([LOW]);
    await outage.close();
  });

  describe('do not depend on looks at thresholds', () => {
    const start = async (): Promise<void> => world.get(AlertWatch, await world.process({ scanEveryMs: 20 })).start();

    it('and go out when these fail', async () => {
      const reported = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
      await world.set({ walletBelow: parseUsd('20') });
      await world.get(ThresholdWatch).scan();
      await world.query('UPDATE alert_looks SET next_at = now()');
      await world.query('ALTER TABLE budgets RENAME TO gone');
      await start();
      await world.mailbox.latestTo('ann@example.com');
      expect(world.subjects).toEqual([LOW]);
      await eventually(() => expect(reported).toHaveBeenCalledWith(expect.anything(), 'Failed to scan thresholds.'));
      reported.mockRestore();
    });

    it('nor do these wait for a mail server that is slow', async () => {
      let take = (): void => undefined;
      const taking = new Promise<void>((taken) => (take = taken));
      world.mailbox.whileTaking = () => taking;
      await world.set({ walletBelow: parseUsd('20') });
      await start();
      await world.mailbox.latestTo('ann@example.com');
      await world.use(await world.key({ quota: parseUsd('1') }), '0.9');
      await eventually(async () => expect(await states()).toEqual(['due', 'due']), TIMEOUT_MS);
      // The first one is still being handed over: had it been given up, it would be tried again sooner.
      const inHand = `SELECT kind FROM alerts WHERE next_try_at > now() + interval '1 minute'`;
      expect(await world.query(inHand)).toEqual([{ kind: 'wallet' }]);
      take();
      await eventually(async () => expect(await states()).toEqual(['sent', 'sent']), TIMEOUT_MS);
    });
  });

  describe('of what is unusual about a key', () => {
    const NEW_NETWORK = 'Key “ci” was used from a new network';
    let keyId: string;
    beforeEach(async () => {
      keyId = await world.key();
    });

    const found = (network: string, at = new Date()): Promise<void> => {
      const { manager } = world.get(DataSource);
      const notice = {
        kind: 'new-network',
        address: network.replace('0/24', '7'),
        network,
        occasion: network,
      } as const;
      return world.get(KeyNotices).add({ ...notice, accountId: world.accountId, keyId, at }, manager);
    };

    it('go out once for each occasion, with what happened and where to look at the key', async () => {
      await world.query(`UPDATE accounts SET time_zone = 'Asia/Tokyo'`);
      const other = await world.process();
      await found('203.0.113.0/24', new Date('2026-11-20T15:30:00Z'));
      await Promise.all([world.scan(), world.scan(other)]);
      await world.scan();
      expect(world.subjects).toEqual([NEW_NETWORK]);
      const { message } = await world.mailbox.latestTo('ann@example.com');
      expect(message.text).toContain('IP address: 203.0.113.7');
      expect(message.text).toContain('Network: 203.0.113.0/24');
      expect(message.text).toContain('First call: 21 Nov 2026, 00:30 GMT+9');
      expect(message.text).toContain(`https://relay.example/keys/${keyId}`);
      await found('198.51.100.0/24');
      await world.scan();
      expect(world.subjects).toEqual([NEW_NETWORK, NEW_NETWORK]);
    });

    it('say what an hour was charged, and the largest one before', async () => {
      const facts = { spent: parseUsd('12.34'), usual: parseUsd('1.5'), at: new Date(), occasion: 'now' };
      const notice = { kind: 'unusual-volume', accountId: world.accountId, keyId, ...facts } as const;
      await world.get(KeyNotices).add(notice, world.get(DataSource).manager);
      await world.scan();
      expect(world.subjects).toEqual(['Key “ci” has unusually high usage']);
      const { message } = await world.mailbox.latestTo('ann@example.com');
      expect(message.text).toContain('Charged within an hour: $12.34');
      expect(message.text).toContain('Highest previous hour: $1.50');
    });

    it('do not when they are disabled, nor when they are switched on later', async () => {
      await world.set({ newNetwork: false });
      await found('203.0.113.0/24');
      await world.scan();
      await world.set({ newNetwork: true });
      await world.scan();
      // Also of a process that has just started, and reads what it has not seen.
      await world.scan(await world.process());
      expect(world.subjects).toEqual([]);
    });

    it('leave nothing behind when the key is deleted', async () => {
      await found('203.0.113.0/24');
      await world.scan();
      await world.get(ApiKeyService).delete(keyId);
      await world.scan();
      expect(await states()).toEqual([]);
    });
  });
});
