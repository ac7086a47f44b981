import { CountAllowancesWithoutClocks20261125210000 } from '../../migrations/20261125210000-count-allowances-without-clocks.js';
import { actingAs, COMMAND_LINE } from '../../src/platform/audit/index.js';
import { AccountStatus } from '../../src/auth/index.js';
import { AccountDeletion } from '../../src/keys/onboarding/index.js';
import { MAX_AMOUNT, nanos, parseUsd } from '../../src/platform/shared/index.js';
import {
  AllowanceService,
  AllowanceRenewal,
  InvalidAmount,
  WalletNotFound,
  WalletService,
} from '../../src/wallet/index.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { finished } from '../support/billing-rows.js';

describe('a monthly allowance', () => {
  let bench: BillingBench;
  let allowances: AllowanceService;
  let ann: string;

  const usd = (text: string): bigint => parseUsd(text);
  const set = (amount: string): Promise<void> => allowances.set(ann, parseUsd(amount));
  const move = (amount: string) => bench.app.get(WalletService).credit(ann, parseUsd(amount), 'test');
  const call = async (cost: string): Promise<void> => {
    await bench.settle(finished(await bench.opened(usd(cost)), usd(cost)));
  };
  const turn = async (monthsAhead: number): Promise<void> => {
    bench.calendar.monthsAhead = monthsAhead;
    await bench.app.get(AllowanceRenewal).renewAll();
  };
  /** What entries did to the wallet and the house, as `kind: wallet, allowance`. */
  const entries = async (): Promise<string[]> => {
    const rows = await bench.query<{ kind: string; wallet: string; house: string }>(
      `SELECT e.kind, coalesce(sum(l.amount) FILTER (WHERE l.ledger_account LIKE 'wallet:%'), 0) / 1e9 AS wallet,
              coalesce(sum(l.amount) FILTER (WHERE l.ledger_account = 'allowance'), 0) / 1e9 AS house
         FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
        WHERE e.kind IN ('allowance', 'expiry') GROUP BY e.id ORDER BY e.created_at, e.id`,
    );
    return rows.map(({ kind, wallet, house }) => `${kind}: ${Number(wallet)}, ${Number(house)}`);
  };
  const balance = async (): Promise<bigint> => (await bench.wallet(ann)).balance;

  beforeEach(async () => {
    bench = await BillingBench.start();
    allowances = bench.app.get(AllowanceService);
    ann = bench.accountId;
  });
  afterEach(async () => {
    expect(await bench.check()).toEqual(EXACT);
    await bench.stop();
  });

  it('is given whole when it is first set, against a house account of its own, and once a month', async () => {
    await set('20');
    expect(await entries()).toEqual(['allowance: 20, -20']);
    expect(await balance()).toBe(usd('21'));
    await turn(0);
    await set('20');
    expect(await entries()).toHaveLength(1);
    await turn(1);
    expect(await entries()).toEqual(['allowance: 20, -20', 'expiry: -20, 20', 'allowance: 20, -20']);
    await turn(1);
    expect(await balance()).toBe(usd('21'));
    expect(await entries()).toHaveLength(3);
  });

  it('is spent before any other money, and what is unspent expires', async () => {
    await set('20');
    await call('3.5');
    await turn(1);
    expect(await entries()).toEqual(['allowance: 20, -20', 'expiry: -16.5, 16.5', 'allowance: 20, -20']);
    expect(await balance()).toBe(usd('21'));
    await call('20.4');
    await turn(2);
    expect((await entries()).slice(3)).toEqual(['allowance: 20, -20']);
    expect(await balance()).toBe(usd('20.6'));
  });

  it('leaves alone what running calls hold: what they release in the next month stays', async () => {
    await move('-1');
    await set('20');
    const running = await bench.opened(usd('15'));
    await turn(1);
    expect(await entries()).toEqual(['allowance: 20, -20', 'expiry: -5, 5', 'allowance: 20, -20']);
    await bench.settle(finished(running, usd('1')));
    expect(await balance()).toBe(usd('34'));
    // What it cost counts in the month that it was settled in.
    await turn(2);
    expect((await entries()).slice(3)).toEqual(['expiry: -19, 19', 'allowance: 20, -20']);
    expect(await balance()).toBe(usd('35'));
  });

  it('pays what is owed first: that much less is left to expire', async () => {
    await bench.app.get(WalletService).recordOwed(ann, parseUsd('6'), 'taken back');
    await set('20');
    expect(await bench.wallet(ann)).toMatchObject({ balance: usd('15'), owed: 0n });
    await turn(1);
    expect(await entries()).toEqual(['allowance: 15, -20', 'expiry: -15, 15', 'allowance: 20, -20']);
  });

  it('is not made up for by other money once a debit or a refund has taken of it', async () => {
    await set('20');
    await move('-15');
    await move('50');
    await turn(1);
    expect((await entries())[1]).toBe('expiry: -6, 6');
    await bench.app.get(WalletService).recordOwed(ann, parseUsd('69'), 'taken back');
    await move('10');
    await turn(2);
    expect((await entries())[3]).toBe('expiry: -1, 1');
    expect(await balance()).toBe(usd('30'));
  });

  it('changes from the next month on, and ends with its month', async () => {
    await set('20');
    await set('50');
    expect(await balance()).toBe(usd('21'));
    await turn(1);
    expect(await balance()).toBe(usd('51'));
    await set('0');
    expect(await balance()).toBe(usd('51'));
    // Ended and set anew, it is not duplicate.
    await set('50');
    await set('0');
    expect(await balance()).toBe(usd('51'));
    await turn(2);
    expect(await balance()).toBe(usd('1'));
    await set('5');
    expect(await balance()).toBe(usd('6'));
  });

  it('is given for the month that it is, not for those in which nothing ran, nor for one that the clock went back to', async () => {
    await set('20');
    await turn(4);
    expect(await entries()).toEqual(['allowance: 20, -20', 'expiry: -20, 20', 'allowance: 20, -20']);
    await turn(3);
    expect(await entries()).toHaveLength(3);
    const months = await bench.query<{ ended: boolean }>(
      'SELECT ended_at IS NOT NULL AS ended FROM allowance_months ORDER BY month',
    );
    expect(months).toEqual([{ ended: true }, { ended: false }]);
  });

  it('is not given while the account is suspended, though the old one expires; enabled again, it has that of the month', async () => {
    const standing = bench.app.get(AccountStatus, { strict: false });
    await set('20');
    await standing.disable(ann);
    await turn(1);
    expect(await balance()).toBe(usd('1'));
    await standing.enable(ann);
    await turn(1);
    expect(await balance()).toBe(usd('21'));
  });

  it('ends with the account: what is left of it goes back to where it came from', async () => {
    await set('20');
    await call('4');
    await bench.app.get(AccountDeletion).run(ann);
    expect(await entries()).toEqual(['allowance: 20, -20', 'expiry: -16, 16']);
    expect(await balance()).toBe(0n);
    await turn(1);
    expect(await entries()).toHaveLength(2);
  });

  it('is set in the transaction that does more, or not at all', async () => {
    const wallets = bench.app.get(WalletService);
    const refused = bench.sql.transaction(async (manager) => {
      await wallets.credit(ann, parseUsd('5'), 'test', manager);
      await allowances.set(ann, parseUsd('20'), manager);
      throw new Error('undone');
    });
    await expect(refused).rejects.toThrow('undone');
    expect(await entries()).toEqual([]);
    expect(await balance()).toBe(usd('1'));
  });

  it('is recomputed by the ledger check, which names what differs', async () => {
    await set('20');
    await call('3');
    await move('1');
    expect(await bench.check()).toEqual(EXACT);
    const differing = async (change: string, undo: string, words: RegExp): Promise<void> => {
      await bench.query(`UPDATE allowance_months SET ${change}`);
      expect((await bench.check()).differences).toEqual([expect.stringMatching(words)]);
      await bench.query(`UPDATE allowance_months SET ${undo}`);
    };
    const spent = new RegExp(
      `^The amount spent since the allowance of ${ann} for \\d{4}-\\d\\d is \\$4, but the ledger shows \\$3$`,
    );
    await differing('spent = 4e9, remaining = 16e9', 'spent = 3e9, remaining = 17e9', spent);
    const given = new RegExp(
      `^The amount moved by an allowance by entry led_\\w+ of ${ann} is \\$20, but its month shows \\$21$`,
    );
    await differing('granted = 21e9', 'granted = 20e9', given);
  });

  describe('while the clock of the database steps', () => {
    /** Entries are dated as by a clock that is this far from the one before. */
    const step = async (interval: string): Promise<void> => {
      for (const column of ['created_at', 'entered_at'])
        await bench.query(
          `ALTER TABLE ledger_entries ALTER COLUMN ${column} SET DEFAULT clock_timestamp() + interval '${interval}'`,
        );
    };

    it.each([
      ['back behind the time that it was given', '-2 hours'],
      ['ahead by months', '90 days'],
    ])('counts what calls spend of it, and leaves the ledger exact: %s', async (_, interval) => {
      await call('0.5');
      await set('20');
      await step(interval);
      await call('3.5');
      expect(await bench.check()).toEqual(EXACT);
      await turn(1);
      expect((await entries()).toSorted()).toEqual(['allowance: 20, -20', 'allowance: 20, -20', 'expiry: -16.5, 16.5']);
      await call('1');
      expect(await bench.check()).toEqual(EXACT);
      await turn(2);
      expect(await balance()).toBe(usd('20.5'));
    });

    it('leaves out what was spent before by a clock that was ahead', async () => {
      await step('2 hours');
      await call('0.5');
      await step('0');
      await set('20');
      await call('2');
      expect(await bench.check()).toEqual(EXACT);
      await turn(1);
      expect(await balance()).toBe(usd('20.5'));
    });

    it('no longer makes a ledger inexact that is upgraded', async () => {
      await set('20');
      await step('-2 hours');
      await call('3');
      await turn(1);
      await call('2');
      await move('1');
      await call('1');
      await bench.query(`
        ALTER TABLE allowance_months DROP COLUMN taken_before, DROP COLUMN taken_after;
        DROP FUNCTION taken_by_calls`);
      const runner = bench.sql.createQueryRunner();
      await new CountAllowancesWithoutClocks20261125210000().up(runner);
      await runner.release();
      expect(await bench.check()).toEqual(EXACT);
      await call('1');
      await turn(2);
      expect(await balance()).toBe(usd('22'));
    });

    it('counts debts that are paid out of what calls release', async () => {
      await set('20');
      const running = await bench.opened(usd('21'));
      await bench.app.get(WalletService).recordOwed(ann, parseUsd('5'), 'taken back');
      await step('-2 hours');
      await bench.settle(finished(running, usd('2')));
      expect(await bench.wallet(ann)).toMatchObject({ balance: usd('14'), owed: 0n });
      expect(await bench.check()).toEqual(EXACT);
      await turn(1);
    });
  });

  it('is recorded with who set it, and refused where it cannot be', async () => {
    await actingAs(COMMAND_LINE, () => set('20'));
    await actingAs(COMMAND_LINE, () => set('20'));
    await actingAs(COMMAND_LINE, () => set('0'));
    const changes = await bench.query<object>('SELECT action, object_name, lines FROM audit_entries ORDER BY id');
    expect(changes).toEqual([
      { action: 'changed', object_name: 'ann@example.com', lines: ['monthly allowance none → $20'] },
      { action: 'changed', object_name: 'ann@example.com', lines: ['monthly allowance $20 → none'] },
    ]);
    await expect(allowances.set(ann, nanos(-1n))).rejects.toThrow(InvalidAmount);
    await expect(allowances.set(ann, nanos(MAX_AMOUNT + 1n))).rejects.toThrow(InvalidAmount);
    await expect(allowances.set('acc_0', nanos(1n))).rejects.toThrow(WalletNotFound);
  });
});
