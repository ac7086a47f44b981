import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { AlertSender } from '../../src/keys/alerts/alert-sender.js';
import { ThresholdWatch } from '../../src/keys/alerts/index.js';
import { newId, parseUsd } from '../../src/platform/shared/index.js';
import { AlertsWorld } from '../support/alerts-world.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';

/** The first of as many accounts as have their turn at one look, and the last. */
const FIRST = 'acc_0000001';
const LAST = 'acc_0001000';

describe('a look at the thresholds of more accounts than are compared at once', () => {
  let world: AlertsWorld;
  /** Ann, whose money was moved, comes first; then all others, whose turn it is. */
  beforeEach(async () => {
    world = await AlertsWorld.start();
    await world.query(`
      INSERT INTO accounts (id, email, password_hash)
      SELECT 'acc_000' || lpad(n::text, 4, '0'), n || '@example.com', '' FROM generate_series(1, 1000) n`);
  });
  afterEach(() => world.close());

  const makeTime = (): Promise<unknown> => world.query(`UPDATE alert_looks SET next_at = now(), looked_to = ''`);
  /** As if it had been warned, of what is over. */
  const warn = (accountId: string): Promise<unknown> =>
    world.query(`INSERT INTO alerts (account_id, kind, facts, state) VALUES ($1, 'wallet', '{}', 'sent')`, [accountId]);
  const warned = async (): Promise<readonly string[]> =>
    (await world.query<{ id: string }>('SELECT account_id AS id FROM alerts ORDER BY 1')).map(({ id }) => id);
  /** Does something while a look waits at an account that was warned. */
  const whileItWaitsAt = async (accountId: string, work: () => Promise<void>, stop?: AbortSignal): Promise<void> => {
    const session = world.get(DataSource).createQueryRunner();
    await session.startTransaction();
    await session.query('SELECT FROM alerts WHERE account_id = $1 FOR UPDATE', [accountId]);
    const looked = world.get(ThresholdWatch).scan(stop);
    try {
      await eventually(
        async () =>
          expect(
            await world.query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            ),
          ).toHaveLength(1),
        TIMEOUT_MS,
      );
      await work();
    } finally {
      await session.rollbackTransaction();
      await session.release();
      await Promise.allSettled([looked]);
    }
    await looked;
  };

  it('holds up no mail, and has those mailed that it has found so far; no other process looks meanwhile', async () => {
    await world.set({ walletBelow: parseUsd('20') });
    await world.get(ThresholdWatch).scan();
    await world.use(await world.key({ quota: parseUsd('1') }), '0.9');
    await world.set({ walletBelow: parseUsd('20') });
    await warn(LAST);
    const other = await world.process();
    await makeTime();
    await whileItWaitsAt(LAST, async () => {
      expect(await world.get(ThresholdWatch, other).scan()).toBe(5_000);
      await world.get(AlertSender).sendDue(new AbortController().signal);
      expect(world.subjects).toEqual(['Your balance is below $20.00', 'Key “ci” has used 90% of its quota']);
      expect(await world.query(`SELECT FROM alerts WHERE state = 'due'`)).toEqual([]);
    });
    expect(await warned()).toEqual([world.accountId, world.accountId]);
  });

  it('is given up between two of its statements when the process stops, and the next one is at all of them again', async () => {
    await world.set({ walletBelow: parseUsd('5') });
    await warn(FIRST);
    await warn(LAST);
    const stop = new AbortController();
    const stopped = whileItWaitsAt(FIRST, async () => stop.abort(), stop.signal);
    await expect(stopped).rejects.toThrow('This operation was aborted');
    expect(await warned()).toEqual([LAST]);
    expect(await world.query('SELECT FROM alert_rechecks')).toHaveLength(1);
    await world.scan();
    expect(await warned()).toEqual([]);
  });

  it('does not wait for accounts with an unchanged alert', async () => {
    await world.set({ walletBelow: parseUsd('20') });
    await world.get(ThresholdWatch).scan();
    await makeTime();
    const session = world.get(DataSource).createQueryRunner();
    await session.startTransaction();
    await session.query('SELECT FROM alerts FOR UPDATE');
    const looked = world.get(ThresholdWatch).scan();
    const first = await Promise.race([looked, sleep(3_000, 'waits')]);
    await session.rollbackTransaction();
    await session.release();
    await looked;
    expect(first).not.toBe('waits');
  });

  it('covers all accounts with moved money, however many', async () => {
    await world.query(`
      INSERT INTO accounts (id, email, password_hash, verified_at)
      SELECT 'acc_001' || n, 'moved' || n || '@example.com', '', now() FROM generate_series(1, 1500) n`);
    await world.query(`INSERT INTO wallets (account_id, balance) SELECT id, 1 FROM accounts WHERE id LIKE 'acc_001%'`);
    await world.query(`
      INSERT INTO alert_settings SELECT account_id, 5, 0, false, 0, false, 0, false, false FROM wallets WHERE balance = 1`);
    await world.query('DELETE FROM alert_rechecks');
    const entry = newId('led', Date.now());
    await world.query(`INSERT INTO ledger_entries (id, kind) VALUES ($1, 'credit')`, [entry]);
    await world.query(`INSERT INTO ledger_lines SELECT $1, 'wallet:' || account_id, 1 FROM wallets WHERE balance = 1`, [
      entry,
    ]);
    await world.get(ThresholdWatch).scan();
    expect(await warned()).toHaveLength(1_500);
  });
});
