import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { nanos, parseUsd } from '../../src/platform/shared/index.js';
import {
  InvalidAmount,
  DebitTooLarge,
  LedgerCheck,
  WalletModule,
  WalletNotFound,
  WalletService,
} from '../../src/wallet/index.js';
import { aCallRow } from '../support/call-rows.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

describe('a wallet', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let wallets: WalletService;
  let ledger: LedgerCheck;
  let sql: DataSource;
  let accountId: string;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [WalletModule, KeysModule, OnboardingModule]);
    wallets = app.get(WalletService);
    ledger = app.get(LedgerCheck);
    sql = app.get(DataSource);
    ({ id: accountId } = await app.get(Onboarding).createAccount({ email: 'ann@example.com' }));
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('is credited and debited with an entry for each that sums to zero', async () => {
    await wallets.credit(accountId, parseUsd('10'), 'invoice 7');
    const after = await wallets.credit(accountId, parseUsd('-2.5'), 'correction');
    expect(after).toEqual({ balance: 7_500_000_000n, held: 0n, holds: 0, owed: 0n });
    const lines = await sql.query(
      `SELECT kind, reason, ledger_account, amount FROM ledger_entries JOIN ledger_lines ON entry_id = id ORDER BY id, amount`,
    );
    expect(lines).toEqual([
      { kind: 'credit', reason: 'invoice 7', ledger_account: 'grants', amount: '-10000000000' },
      { kind: 'credit', reason: 'invoice 7', ledger_account: `wallet:${accountId}`, amount: '10000000000' },
      { kind: 'debit', reason: 'correction', ledger_account: `wallet:${accountId}`, amount: '-2500000000' },
      { kind: 'debit', reason: 'correction', ledger_account: 'grants', amount: '2500000000' },
    ]);
    await expect(ledger.run()).resolves.toEqual({ exact: true, differences: [] });
  });

  it('gives away at most what is free, and a refusal names both amounts', async () => {
    await wallets.credit(accountId, parseUsd('10'), 'top-up');
    await sql.query('UPDATE wallets SET held = 4000000000, holds = 2');
    await expect(wallets.credit(accountId, parseUsd('-6.000000001'), 'too much')).rejects.toThrow(
      'A debit of $6.000000001 is not possible: only $6 is available ($4 more is on hold for running calls).',
    );
    await expect(wallets.credit(accountId, parseUsd('-6'), 'all that is free')).resolves.toMatchObject({
      balance: 4_000_000_000n,
      held: 4_000_000_000n,
    });
  });

  it('ends at exactly zero when more debits than it can pay arrive together', async () => {
    await wallets.credit(accountId, parseUsd('5'), 'top-up');
    const debits = Array.from({ length: 12 }, () => wallets.credit(accountId, parseUsd('-1'), 'race'));
    const results = await Promise.allSettled(debits);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(7);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(DebitTooLarge);
    await expect(wallets.balanceOf(accountId)).resolves.toMatchObject({ balance: 0n });
    await expect(ledger.run()).resolves.toMatchObject({ exact: true });
  });

  it('refuses an amount of zero, a balance beyond all reason, and an account that does not exist', async () => {
    await expect(wallets.credit(accountId, nanos(0n), 'nothing')).rejects.toThrow(InvalidAmount);
    await expect(wallets.credit(accountId, nanos(9_000_000_000_000_000_001n), 'all')).rejects.toThrow(InvalidAmount);
    await expect(wallets.credit('acc_none', nanos(1n), 'nobody')).rejects.toThrow(WalletNotFound);
    await expect(wallets.balanceOf('acc_none')).rejects.toThrow(WalletNotFound);
  });

  it('cannot have its history changed', async () => {
    await wallets.credit(accountId, parseUsd('1'), 'top-up');
    await expect(sql.query('UPDATE ledger_lines SET amount = amount * 2')).rejects.toThrow('append-only');
    await expect(sql.query('DELETE FROM ledger_entries')).rejects.toThrow('append-only');
  });

  describe('under the ledger check', () => {
    let keyId: string;

    const openCall = (...idAccountKeyHold: readonly unknown[]): Promise<unknown> =>
      sql.query(
        `INSERT INTO open_calls VALUES ($1, $2, $3, $4, 'process', 'm', now(), 'default', 'messages', false, '', '', '{}')`,
        [...idAccountKeyHold],
      );

    /** What an admitted call and a settled one leave behind. */
    beforeEach(async () => {
      await wallets.credit(accountId, parseUsd('10'), 'top-up');
      ({ id: keyId } = await app.get(ApiKeyService).create({ accountId, name: 'key' }));
      await aCallRow(sql, { id: 'req_settled', accountId, keyId, cost: 1_000_000_000n, entryId: 'led_x' });
      await sql.query(`INSERT INTO ledger_entries (id, kind) VALUES ('led_x', 'calls')`);
      await sql.query(`INSERT INTO ledger_lines VALUES ('led_x', $1, -1000000000), ('led_x', 'revenue', 1000000000)`, [
        `wallet:${accountId}`,
      ]);
      await openCall('req_open', accountId, keyId, 2_000_000_000);
      await sql.query('UPDATE wallets SET balance = 9000000000, held = 2000000000, holds = 1');
      await sql.query('UPDATE api_keys SET used = 1000000000, held = 2000000000');
    });

    it('is exact while a call is open and another is settled', async () => {
      await expect(ledger.run()).resolves.toEqual({ exact: true, differences: [] });
    });

    it.each([
      [
        'a balance',
        'UPDATE wallets SET balance = balance + 1',
        'The balance of wallet ACC is $9.000000001, but its ledger lines sum to $9',
      ],
      [
        'a hold',
        'UPDATE wallets SET held = held - 1',
        'The amount on hold in wallet ACC is $1.999999999, but its open calls hold $2',
      ],
      [
        'a number of holds',
        'UPDATE wallets SET holds = 3',
        'The number of holds on wallet ACC is 3, but the number of its open calls is 1',
      ],
      [
        "a key's hold",
        'UPDATE api_keys SET held = 0',
        'The amount on hold on key KEY is $0, but its open calls hold $2',
      ],
      ["a key's use", 'UPDATE api_keys SET used = 0', 'The usage of key KEY is $0, but its calls cost $1'],
      [
        'an entry with one side',
        `INSERT INTO ledger_entries (id, kind) VALUES ('led_y', 'credit'); INSERT INTO ledger_lines VALUES ('led_y', 'grants', 5)`,
        'The sum of ledger entry led_y is $0.000000005, but every entry sums to $0',
      ],
    ])('finds %s that is wrong', async (_what, fault, difference) => {
      await sql.query(fault);
      const expected = difference.replace('ACC', accountId).replace('KEY', keyId);
      await expect(ledger.run()).resolves.toEqual({ exact: false, differences: [expected] });
    });

    it('finds a call that was never taken from the wallet', async () => {
      await aCallRow(sql, { id: 'req_free', accountId, keyId, cost: 5n });
      await sql.query('UPDATE api_keys SET used = used + 5');
      await expect(ledger.run()).resolves.toEqual({
        exact: false,
        differences: [
          `The ledger charge for calls without an entry from wallet:${accountId} is $0, but these calls cost $0.000000005`,
        ],
      });
    });

    it('finds lines of an account that has no wallet, and holds of a key that does not exist', async () => {
      await sql.query(`INSERT INTO ledger_entries (id, kind) VALUES ('led_z', 'credit')`);
      await sql.query(`INSERT INTO ledger_lines VALUES ('led_z', 'wallet:acc_gone', 5), ('led_z', 'grants', -5)`);
      await openCall('req_2', 'acc_gone', 'key_gone', 7);
      const { differences } = await ledger.run();
      expect(differences).toEqual([
        'The balance of wallet acc_gone is $0, but its ledger lines sum to $0.000000005',
        'The amount on hold in wallet acc_gone is $0, but its open calls hold $0.000000007',
        'The number of holds on wallet acc_gone is 0, but the number of its open calls is 1',
        'The amount on hold on key key_gone is $0, but its open calls hold $0.000000007',
      ]);
    });

    it('is exact at every moment while money moves', async () => {
      const movement = (async () => {
        for (let turn = 0; turn < 60; turn++)
          await wallets.credit(accountId, parseUsd(turn % 2 === 0 ? '1' : '-1'), `turn ${turn}`);
      })();
      for (let check = 0; check < 30; check++)
        await expect(ledger.run()).resolves.toEqual({ exact: true, differences: [] });
      await movement;
    });
  });
});
