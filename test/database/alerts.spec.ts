import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { ThresholdWatch } from '../../src/keys/alerts/index.js';
import { AccountStatus } from '../../src/auth/index.js';
import { ApiKeyService } from '../../src/keys/index.js';
import { Clock, parseUsd, ZERO } from '../../src/platform/shared/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { AlertsWorld } from '../support/alerts-world.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);

class DayBehindClock extends Clock {
  override now(): number {
    return super.now() - DAY_MS;
  }
}

describe('alerts', () => {
  let world: AlertsWorld;
  beforeEach(async () => {
    world = await AlertsWorld.start();
  });
  afterEach(() => world.close());

  /** The subjects of what a look, and then another one, leads to. */
  const reported = async (): Promise<readonly (string | undefined)[]> => {
    const before = world.subjects.length;
    await world.scan();
    await world.scan();
    return world.subjects.slice(before);
  };

  describe('of a low balance', () => {
    const LOW = 'Your balance is below $5.00';

    it('are off until a threshold is set', async () => {
      await world.credit('-10');
      expect(await reported()).toEqual([]);
    });

    it('come once when it falls below the threshold, and again when it has been above it meanwhile', async () => {
      await world.set({ walletBelow: parseUsd('5') });
      expect(await reported()).toEqual([]);
      await world.credit('-5');
      expect(await reported()).toEqual([]);
      await world.credit('-0.01');
      expect(await reported()).toEqual([LOW]);
      await world.credit('-1');
      expect(await reported()).toEqual([]);
      await world.credit('2');
      expect(await reported()).toEqual([]);
      await world.credit('-2');
      expect(await reported()).toEqual([LOW]);
    });

    it('come when the threshold is raised above what there is', async () => {
      await world.set({ walletBelow: parseUsd('5') });
      expect(await reported()).toEqual([]);
      await world.set({ walletBelow: parseUsd('10.01') });
      expect(await reported()).toEqual(['Your balance is below $10.01']);
      await world.set({ walletBelow: parseUsd('20') });
      expect(await reported()).toEqual([]);
    });

    it('do not come for what running calls hold', async () => {
      await world.set({ walletBelow: parseUsd('5') });
      await world.query('UPDATE wallets SET held = 9000000000, holds = 1 WHERE account_id = $1', [world.accountId]);
      expect(await reported()).toEqual([]);
    });

    it('say the figures, what follows, and where it is mended and disabled, in both parts', async () => {
      await world.set({ walletBelow: parseUsd('12.5') });
      await world.scan();
      const { message, raw } = await world.mailbox.latestTo('ann@example.com');
      for (const part of [message.text ?? '', String(message.html)]) {
        expect(part).toContain('$10.00');
        expect(part).toContain('$12.50');
        expect(part).toContain('Calls are rejected with “insufficient quota”');
        expect(part).toContain('https://relay.example/wallet');
        expect(part).toContain('https://relay.example/account/alerts');
      }
      expect(raw).toContain('Auto-Submitted: auto-generated');
    });
  });

  describe('of a quota', () => {
    it('come once at the percentage and once when it is used up, and again after it was raised', async () => {
      const key = await world.key({ quota: parseUsd('10') });
      await world.use(key, '7.99');
      expect(await reported()).toEqual([]);
      await world.use(key, '8');
      expect(await reported()).toEqual(['Key “ci” has used 80% of its quota']);
      await world.use(key, '9.98');
      expect(await reported()).toEqual([]);
      // Less than a thousandth is left: hardly a call fits into it.
      await world.use(key, '9.995');
      expect(await reported()).toEqual(['Key “ci” has used up its quota']);
      await world.query('UPDATE api_keys SET quota = 20000000000');
      expect(await reported()).toEqual([]);
      await world.use(key, '16');
      expect(await reported()).toEqual(['Key “ci” has used 80% of its quota']);
    });

    it('are one mail when it was filled between two looks', async () => {
      const key = await world.key({ quota: parseUsd('10') });
      await world.use(key, '10');
      expect(await reported()).toEqual(['Key “ci” has used up its quota']);
    });

    it('come at the percentage when alerts of exhaustion are off', async () => {
      await world.set({ quotaUsedUp: false, quotaPercent: 50 });
      const key = await world.key({ quota: parseUsd('10') });
      await world.use(key, '10');
      expect(await reported()).toEqual(['Key “ci” has used 100% of its quota']);
    });

    it('are off, or come for none that is meant to be empty', async () => {
      await world.key({ quota: ZERO });
      expect(await reported()).toEqual([]);
      await world.set({ quotaPercent: 0, quotaUsedUp: false });
      await world.use(await world.key({ quota: parseUsd('1') }), '1');
      expect(await reported()).toEqual([]);
    });
  });

  describe('of budgets', () => {
    it('come once for each of them, and again in the next period', async () => {
      const key = await world.key({
        budgets: { daily: parseUsd('1'), weekly: parseUsd('2'), monthly: parseUsd('100') },
      });
      expect(await reported()).toEqual([]);
      await world.useBudgets(key, '1');
      expect(await reported()).toEqual(['Key “ci” has used up its daily budget']);
      await world.useBudgets(key, '1.6');
      expect(await reported()).toEqual(['Key “ci” has used 80% of its weekly budget']);
      // As if what was told were of the day before.
      await world.query(`UPDATE alerts SET occasion = 'day 2026-01-01' WHERE occasion LIKE 'day %'`);
      expect(await reported()).toEqual(['Key “ci” has used up its daily budget']);
    });

    it('report when the period resets, in UTC and in the time zone of the account', async () => {
      await world.query(`UPDATE accounts SET time_zone = 'Asia/Tokyo'`);
      await world.useBudgets(await world.key({ budgets: { daily: parseUsd('1') } }), '0.9');
      await world.scan();
      const { message } = await world.mailbox.latestTo('ann@example.com');
      expect(message.text).toContain('Daily budget (UTC): $1.00');
      expect(message.text).toContain('Used: $0.90, 90%');
      // Midnight in UTC.
      expect(message.text).toMatch(/Resets: \d+ \w{3} \d{4}, 09:00 GMT\+9/);
    });
  });

  describe('of an expiry', () => {
    const SOON = 'Key “ci” expires soon';

    it('come once within the days that were set, and again when it was moved', async () => {
      await world.set({ expiryDays: 3 });
      const key = await world.key({ expiresAt: inDays(4) });
      expect(await reported()).toEqual([]);
      const move = (days: number) =>
        world.query('UPDATE api_keys SET expires_at = $2 WHERE id = $1', [key, inDays(days)]);
      await move(2.9);
      expect(await reported()).toEqual([SOON]);
      await move(2);
      expect(await reported()).toEqual([SOON]);
      await move(-1);
      expect(await reported()).toEqual([]);
    });

    it('are off when no days are set', async () => {
      await world.set({ expiryDays: 0 });
      await world.key({ expiresAt: inDays(0.001) });
      expect(await reported()).toEqual([]);
    });
  });

  describe('do not come', () => {
    it('for a key that is disabled or deleted, nor again when it is enabled', async () => {
      const key = await world.key({ quota: parseUsd('10') });
      await world.get(ApiKeyService).disable(key);
      await world.use(key, '9');
      expect(await reported()).toEqual([]);
      await world.get(ApiKeyService).enable(key);
      expect(await reported()).toEqual(['Key “ci” has used 90% of its quota']);
      await world.get(ApiKeyService).disable(key);
      expect(await reported()).toEqual([]);
      await world.get(ApiKeyService).enable(key);
      expect(await reported()).toEqual([]);
      const other = await world.key({ quota: parseUsd('10') });
      await world.use(other, '9');
      await world.get(ApiKeyService).delete(other);
      expect(await reported()).toEqual([]);
    });

    it('to an account that is suspended, or whose address is not verified', async () => {
      await world.set({ walletBelow: parseUsd('20') });
      await world.get(AccountStatus).disable(world.accountId);
      expect(await reported()).toEqual([]);
      await world.query(`UPDATE accounts SET state = 'enabled', verified_at = NULL`);
      expect(await reported()).toEqual([]);
      await world.query(`UPDATE accounts SET verified_at = now()`);
      expect(await reported()).toEqual(['Your balance is below $20.00']);
    });
  });

  describe('among very many accounts', () => {
    const LOW = 'Your balance is below $5.00';
    /** More than have their turn at one look, all before Ann. */
    beforeEach(async () => {
      await world.set({ walletBelow: parseUsd('5') });
      // As if what she had been given were of long ago.
      await world.query('ALTER TABLE ledger_lines DISABLE TRIGGER USER');
      await world.query('DELETE FROM ledger_lines');
      await world.query(`
        INSERT INTO accounts (id, email, password_hash)
        SELECT 'acc_000' || n, n || '@example.com', '' FROM generate_series(1, 2500) n`);
      await world.scan();
      await world.query(`UPDATE alert_looks SET looked_to = ''`);
    });
    const subjectsAfter = async (looks: number): Promise<readonly (string | undefined)[]> => {
      for (let scan = 0; scan < looks; scan += 1) await world.scan();
      return world.subjects;
    };

    it('come at the next look when money was moved', async () => {
      await world.credit('-6');
      expect(await subjectsAfter(1)).toEqual([LOW]);
    });

    it('come with the next scan when another process with a clock a day behind moved the money', async () => {
      const other = await world.process({}, new DayBehindClock());
      await world.get(WalletService, other).credit(world.accountId, parseUsd('-6'), 'test');
      expect(await subjectsAfter(1)).toEqual([LOW]);
    });

    it('come when a transaction began before a scan and was committed after it', async () => {
      const session = world.get(DataSource).createQueryRunner();
      await session.startTransaction();
      await world.get(WalletService).credit(world.accountId, parseUsd('-6'), 'test', session.manager);
      expect(await subjectsAfter(1)).toEqual([]);
      await session.commitTransaction();
      await session.release();
      await world.query(`UPDATE alert_looks SET looked_to = ''`);
      expect(await subjectsAfter(1)).toEqual([LOW]);
    });

    it('come with the next scan when a threshold or limit was changed, and again when it is crossed again', async () => {
      const key = await world.key({ quota: parseUsd('10') });
      await world.use(key, '6');
      expect(await subjectsAfter(1)).toEqual([]);
      const setQuota = (usd: string) =>
        world.query('UPDATE api_keys SET quota = $2 WHERE id = $1', [key, parseUsd(usd)]);
      await setQuota('7');
      expect(await subjectsAfter(1)).toEqual(['Key “ci” has used 85% of its quota']);
      await setQuota('20');
      expect(await subjectsAfter(1)).toHaveLength(1);
      await setQuota('7.5');
      expect(await subjectsAfter(1)).toHaveLength(2);
      await world.set({ walletBelow: parseUsd('11') });
      expect(await subjectsAfter(1)).toEqual([...world.subjects.slice(0, 2), 'Your balance is below $11.00']);
    });

    it('come at the next look when a key is made that expires soon', async () => {
      await world.key({ expiresAt: inDays(2) });
      expect(await subjectsAfter(1)).toEqual(['Key “ci” expires soon']);
    });

    it('come when it is their turn where nothing tells that something is crossed', async () => {
      await world.query('UPDATE wallets SET balance = 1 WHERE account_id = $1', [world.accountId]);
      expect(await subjectsAfter(2)).toEqual([]);
      expect(await subjectsAfter(1)).toEqual([LOW]);
      await world.query('UPDATE wallets SET balance = 6000000000 WHERE account_id = $1', [world.accountId]);
      await subjectsAfter(3);
      await world.query('UPDATE wallets SET balance = 1 WHERE account_id = $1', [world.accountId]);
      expect(await subjectsAfter(3)).toEqual([LOW, LOW]);
    });
  });

  it('say that they cannot be looked at when it is lost how far looks have come', async () => {
    await world.query('DELETE FROM alert_looks');
    await expect(world.get(ThresholdWatch).scan()).rejects.toThrow('The table alert_looks must have one row.');
  });

  describe('leave the database alone', () => {
    const lookAt = async (app = world.app): Promise<number> => world.get(ThresholdWatch, app).scan();

    it('between two looks, whichever process took the last one', async () => {
      const other = await world.process();
      await world.scan();
      await world.set({ walletBelow: parseUsd('20') });
      for (const app of [world.app, other]) {
        const waitMs = await lookAt(app);
        expect(waitMs).toBeGreaterThan(1_000);
        expect(waitMs).toBeLessThanOrEqual(5_000);
      }
      expect(await reported()).toEqual(['Your balance is below $20.00']);
    });

    it('for ten times as long as a look took', async () => {
      const app = await world.process({ scanEveryMs: 1 });
      const session = world.get(DataSource).createQueryRunner();
      await session.startTransaction();
      await session.query('LOCK TABLE alerts');
      const looked = lookAt(app);
      await sleep(500);
      await session.commitTransaction();
      await session.release();
      expect(await looked).toBeGreaterThan(4_000);
      expect(await lookAt(app)).toBeGreaterThan(3_000);
    });
  });
});
