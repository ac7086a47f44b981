import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { formatUsd, parseUsd } from '../../src/platform/shared/index.js';
import { InvalidAmount, LedgerCheck, WalletModule, WalletNotFound, WalletService } from '../../src/wallet/index.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { finished } from '../support/billing-rows.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

describe('the debt of an account', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let wallets: WalletService;
  let sql: DataSource;
  let accountId: string;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [WalletModule, OnboardingModule]);
    wallets = app.get(WalletService);
    sql = app.get(DataSource);
    ({ id: accountId } = await app.get(Onboarding).createAccount({ email: 'ann@example.com' }));
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const figures = async (): Promise<readonly string[]> => {
    const { balance, owed } = await wallets.balanceOf(accountId);
    return [formatUsd(balance), formatUsd(owed)];
  };
  /** As running calls would; they end in no ledger line. */
  const hold = (amount: string): Promise<unknown> =>
    sql.query('UPDATE wallets SET held = $1, holds = 1', [parseUsd(amount)]);
  const lines = (): Promise<unknown> =>
    sql.query(`SELECT kind, ledger_account AS account, amount FROM ledger_entries JOIN ledger_lines ON entry_id = id
                WHERE id = (SELECT max(id) FROM ledger_entries) ORDER BY amount`);
  /** Of the ledger check, what does not look at calls: there are none behind these holds. */
  const expectExactBooks = async (): Promise<void> => {
    const { differences } = await app.get(LedgerCheck).run();
    expect(differences.filter((line) => !line.includes('open calls'))).toEqual([]);
  };

  it('is nothing when a payment that is taken back is still there', async () => {
    await wallets.credit(accountId, parseUsd('10'), 'top-up');
    await expect(wallets.recordOwed(accountId, parseUsd('4'), 'refund 7')).resolves.toMatchObject({
      wallet: { owed: 0n },
    });
    expect(await figures()).toEqual(['6', '0']);
    expect(await lines()).toEqual([
      { kind: 'refund', account: `wallet:${accountId}`, amount: '-4000000000' },
      { kind: 'refund', account: 'payments', amount: '4000000000' },
    ]);
    await expectExactBooks();
  });

  it('is what neither is there nor free, and the next top-up pays it first', async () => {
    await wallets.credit(accountId, parseUsd('10'), 'top-up');
    await hold('3');
    await wallets.recordOwed(accountId, parseUsd('12'), 'dispute');
    expect(await figures()).toEqual(['3', '5']);
    expect(await lines()).toEqual([
      { kind: 'refund', account: `wallet:${accountId}`, amount: '-7000000000' },
      { kind: 'refund', account: `owed:${accountId}`, amount: '-5000000000' },
      { kind: 'refund', account: 'payments', amount: '12000000000' },
    ]);
    await expectExactBooks();
    await wallets.credit(accountId, parseUsd('4'), 'not enough');
    expect(await figures()).toEqual(['3', '1']);
    await wallets.credit(accountId, parseUsd('4'), 'more than enough');
    expect(await figures()).toEqual(['6', '0']);
    expect(await lines()).toEqual([
      { kind: 'credit', account: 'grants', amount: '-4000000000' },
      { kind: 'credit', account: `owed:${accountId}`, amount: '1000000000' },
      { kind: 'credit', account: `wallet:${accountId}`, amount: '3000000000' },
    ]);
    await expectExactBooks();
  });

  it('is paid by a top-up also with what has become free meanwhile', async () => {
    await wallets.credit(accountId, parseUsd('10'), 'top-up');
    await hold('10');
    await wallets.recordOwed(accountId, parseUsd('12'), 'dispute');
    expect(await figures()).toEqual(['10', '12']);
    await hold('0');
    await wallets.credit(accountId, parseUsd('1'), 'small change');
    expect(await figures()).toEqual(['0', '1']);
    await expectExactBooks();
  });

  it('cannot be taken out by a debit, which says why', async () => {
    await wallets.credit(accountId, parseUsd('10'), 'top-up');
    await hold('10');
    await wallets.recordOwed(accountId, parseUsd('4'), 'dispute');
    await hold('3');
    await expect(wallets.credit(accountId, parseUsd('-3.000000001'), 'too much')).rejects.toThrow(
      'A debit of $3.000000001 is not possible: only $3 is available ($3 more is on hold for running calls). The account owes $4, and incoming money is applied to that debt first.',
    );
    await wallets.credit(accountId, parseUsd('-3'), 'just enough');
    expect(await figures()).toEqual(['7', '4']);
  });

  it('is exact when payments are taken back and made at the same time', async () => {
    await wallets.credit(accountId, parseUsd('5'), 'top-up');
    const turns = Array.from({ length: 40 }, (_, turn) =>
      turn % 2 === 0
        ? wallets.recordOwed(accountId, parseUsd('3'), `dispute ${turn}`)
        : wallets.credit(accountId, parseUsd('2'), `top-up ${turn}`),
    );
    await Promise.all(turns);
    // 5 - 20 x 3 + 20 x 2
    expect(await figures()).toEqual(['0', '15']);
    await expectExactBooks();
  });

  it('is paid by what calls release and by top-ups, whichever comes, and the books are exact all the time', async () => {
    const bench = await BillingBench.start();
    try {
      const open = [await bench.opened(600_000_000n), await bench.opened(300_000_000n)];
      const service = bench.app.get(WalletService);
      const turn = async (work: Promise<unknown>, balance: bigint, owed: bigint): Promise<void> => {
        await work;
        expect(await bench.wallet()).toMatchObject({ balance, owed });
        expect(await bench.check()).toEqual(EXACT);
      };
      // $1, of which $0.90 is on hold.
      await turn(service.recordOwed(bench.accountId, parseUsd('1'), 'dispute'), 900_000_000n, 900_000_000n);
      await turn(bench.settle(finished(open[0]!, 100_000_000n)), 300_000_000n, 400_000_000n);
      await turn(service.credit(bench.accountId, parseUsd('0.3'), 'too little'), 300_000_000n, 100_000_000n);
      await expect(bench.admit(bench.asking(1n))).resolves.toMatchObject({ outcome: 'owed' });
      await turn(bench.settle(finished(open[1]!, 50_000_000n)), 150_000_000n, 0n);
      await bench.opened(1n);
    } finally {
      await bench.stop();
    }
  });

  it('needs an amount and an account', async () => {
    for (const amount of ['0', '-1'])
      await expect(wallets.recordOwed(accountId, parseUsd(amount), 'none')).rejects.toThrow(InvalidAmount);
    await expect(wallets.recordOwed('acc_none', parseUsd('1'), 'nobody')).rejects.toThrow(WalletNotFound);
  });
});
