import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { formatUsd, nanos, parseUsd } from '../../src/platform/shared/index.js';
import {
  CodeNotRedeemable,
  InvalidCodes,
  LedgerCheck,
  RedemptionService,
  WalletModule,
  WalletNotFound,
  WalletService,
} from '../../src/wallet/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

const UNKNOWN = 'Unknown code. Check that it is complete and was issued by this service.';
const NEVER_MADE = '0000-0000-0000-0000-0000-0000-0000';

describe('redemption codes', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let redemption: RedemptionService;
  let sql: DataSource;
  let ann: string;
  let bob: string;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [WalletModule, OnboardingModule]);
    redemption = app.get(RedemptionService);
    sql = app.get(DataSource);
    const onboarding = app.get(Onboarding);
    ({ id: ann } = await onboarding.createAccount({ email: 'ann@example.com' }));
    ({ id: bob } = await onboarding.createAccount({ email: 'bob@example.com' }));
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const oneCode = async (amount = '5', expiresAt?: Date): Promise<string> => {
    const {
      codes: [code = ''],
    } = await redemption.create({ amount: parseUsd(amount), count: 1, expiresAt });
    return code;
  };
  const balance = async (id: string): Promise<string> =>
    formatUsd((await app.get(WalletService).balanceOf(id)).balance);
  const lines = (): Promise<unknown[]> =>
    sql.query(`SELECT kind, reason, ledger_account AS account, amount FROM ledger_entries JOIN ledger_lines ON entry_id = id
                ORDER BY amount`);

  it('are made in batches, and only their hashes are stored', async () => {
    const { codes } = await redemption.create({ amount: parseUsd('5'), count: 1000, note: 'spring course' });
    expect(new Set(codes).size).toBe(1000);
    const rows = await sql.query<Record<string, unknown>[]>(
      `SELECT *, encode(code_hash, 'escape') AS text FROM redemption_codes`,
    );
    expect(rows).toHaveLength(1000);
    const stored = JSON.stringify(rows).toUpperCase();
    for (const code of codes.slice(0, 50)) {
      expect(stored).not.toContain(code);
      expect(stored).not.toContain(code.replaceAll('-', ''));
    }
  });

  it('put what they are worth into a wallet, however they are typed, with a ledger entry that names them', async () => {
    const code = await oneCode('5');
    const redeemed = await redemption.redeem(ann, ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')} `);
    expect(redeemed).toMatchObject({ amount: 5_000_000_000n, wallet: { balance: 5_000_000_000n, owed: 0n } });
    const [row] = await sql.query<{ id: string; entry_id: string; redeemed_by: string }[]>(
      'SELECT * FROM redemption_codes JOIN ledger_entries e ON e.id = entry_id',
    );
    expect(row?.redeemed_by).toBe(ann);
    const [{ id } = { id: '' }] = await redemption.list();
    expect(await lines()).toEqual([
      { kind: 'redemption', reason: `Redemption code ${id}`, account: 'grants', amount: '-5000000000' },
      { kind: 'redemption', reason: `Redemption code ${id}`, account: `wallet:${ann}`, amount: '5000000000' },
    ]);
    await expect(app.get(LedgerCheck).run()).resolves.toEqual({ exact: true, differences: [] });
  });

  it('are worth it once: of 80 attempts at the same time, by two accounts in two processes, one succeeds', async () => {
    const other = await startOn(database, [WalletModule]);
    try {
      const code = await oneCode('5');
      const services = [redemption, other.get(RedemptionService)];
      const attempts = Array.from({ length: 80 }, (_, index) =>
        services[index % 2]!.redeem(index % 4 < 2 ? ann : bob, code),
      );
      const results = await Promise.allSettled(attempts);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(CodeNotRedeemable);
      expect([await balance(ann), await balance(bob)].toSorted()).toEqual(['0', '5']);
      expect(await lines()).toHaveLength(2);
    } finally {
      await other.close();
    }
  });

  it('do not get in the way of each other, nor of other movements of the wallet', async () => {
    const { codes } = await redemption.create({ amount: parseUsd('1'), count: 40 });
    const credits = Array.from({ length: 20 }, () => app.get(WalletService).credit(ann, parseUsd('0.5'), 'top-up'));
    await Promise.all([...codes.map((code) => redemption.redeem(ann, code)), ...credits]);
    expect(await balance(ann)).toBe('50');
    await expect(app.get(LedgerCheck).run()).resolves.toMatchObject({ exact: true });
  });

  it('pay what the account owes first', async () => {
    await app.get(WalletService).recordOwed(ann, parseUsd('3'), 'dispute');
    const { wallet } = await redemption.redeem(ann, await oneCode('5'));
    expect(wallet).toMatchObject({ balance: 2_000_000_000n, owed: 0n });
    const paid = (await lines()).filter((line) => JSON.stringify(line).includes('redemption'));
    expect(paid).toMatchObject([
      { account: 'grants', amount: '-5000000000' },
      { account: `wallet:${ann}`, amount: '2000000000' },
      { account: `owed:${ann}`, amount: '3000000000' },
    ]);
  });

  it('report why they are invalid, without revealing who redeemed them', async () => {
    const code = await oneCode();
    await redemption.redeem(ann, code);
    await expect(redemption.redeem(ann, code)).rejects.toThrow(
      /^This code was already redeemed for this account on \d+ \w{3} 2\d{3}, \d\d:\d\d UTC\.$/,
    );
    await expect(redemption.redeem(bob, code)).rejects.toThrow(
      /^This code was already redeemed by another account\. Contact the person who gave it to you\.$/,
    );
    for (const typed of [NEVER_MADE, '', 'not a code', code.slice(1)])
      await expect(redemption.redeem(bob, typed)).rejects.toThrow(UNKNOWN);
    expect([await balance(ann), await balance(bob)]).toEqual(['5', '0']);
  });

  it('are worth nothing from the moment on that they expire', async () => {
    const soon = new Date(Date.now() + 60_000);
    const code = await oneCode('5', soon);
    await sql.query(`UPDATE redemption_codes SET expires_at = now() - interval '1 second'`);
    await expect(redemption.redeem(ann, code)).rejects.toThrow(/^This code expired on .* UTC\.$/);
    expect(await balance(ann)).toBe('0');
    await sql.query('UPDATE redemption_codes SET expires_at = $1', [soon]);
    await redemption.redeem(ann, code);
    expect(await balance(ann)).toBe('5');
  });

  it('stay whole when their worth cannot be put into the wallet', async () => {
    const code = await oneCode();
    await expect(redemption.redeem('acc_none', code)).rejects.toThrow(WalletNotFound);
    await sql.query('UPDATE wallets SET balance = 9000000000000000000');
    await expect(redemption.redeem(ann, code)).rejects.toThrow('A balance cannot exceed');
    await sql.query('UPDATE wallets SET balance = 0');
    await redemption.redeem(ann, code);
    expect(await balance(ann)).toBe('5');
  });

  it('are listed without what people type: what they are worth, their state, and who redeemed them', async () => {
    const later = new Date(Date.now() + 60_000);
    await redemption.create({ amount: parseUsd('1'), count: 1, note: 'open', expiresAt: later });
    const {
      codes: [used = ''],
    } = await redemption.create({ amount: parseUsd('2'), count: 1, note: 'used', expiresAt: later });
    await redemption.create({ amount: parseUsd('3'), count: 1, note: 'late', expiresAt: later });
    await redemption.redeem(bob, used);
    await sql.query(`UPDATE redemption_codes SET expires_at = now() WHERE note <> 'open'`);
    const listed = (await redemption.list()).toSorted((one, other) => Number(one.amount - other.amount));
    expect(listed).toMatchObject([
      { note: 'open', state: 'open', amount: 1_000_000_000n, redeemedBy: null, redeemedAt: null },
      { note: 'used', state: 'redeemed', amount: 2_000_000_000n, redeemedBy: 'bob@example.com' },
      { note: 'late', state: 'expired', amount: 3_000_000_000n, redeemedBy: null },
    ]);
    expect(listed[0]).toMatchObject({ expiresAt: later, createdAt: expect.any(Date) as Date });
  });

  it('are worth nothing once they are voided, one by one or with the unredeemed codes of their batch', async () => {
    const {
      batchId,
      codes: [first = '', second = '', third = ''],
    } = await redemption.create({ amount: parseUsd('1'), count: 3 });
    await redemption.redeem(ann, first);
    const open = await redemption.page({ batch: batchId, state: 'open' }, {}, 10);
    expect(await redemption.void(open[0]?.id ?? '')).toBe(1);
    expect(await redemption.void(open[0]?.id ?? '')).toBe(0);
    expect(await redemption.void(batchId)).toBe(1);
    for (const code of [second, third])
      await expect(redemption.redeem(bob, code)).rejects.toThrow('This code was voided.');
    await expect(redemption.redeem(bob, first)).rejects.toThrow('already redeemed by another account');
    const states = (await redemption.page({ batch: batchId }, {}, 10)).map(({ state }) => state);
    expect(states.toSorted()).toEqual(['redeemed', 'voided', 'voided']);
    await expect(app.get(LedgerCheck).run()).resolves.toMatchObject({ exact: true });
  });

  it('are either redeemed or voided when both are asked for at once', async () => {
    for (let round = 0; round < 10; round++) {
      const {
        batchId,
        codes: [code = ''],
      } = await redemption.create({ amount: parseUsd('1'), count: 1 });
      const [redeemed, voided] = await Promise.allSettled([redemption.redeem(ann, code), redemption.void(batchId)]);
      const wasRedeemed = redeemed.status === 'fulfilled';
      expect(voided).toEqual({ status: 'fulfilled', value: wasRedeemed ? 0 : 1 });
      const [listed] = await redemption.page({ batch: batchId }, {}, 1);
      expect(listed?.state).toBe(wasRedeemed ? 'redeemed' : 'voided');
    }
  });

  it('are refused when they could not be used, none of a batch being made', async () => {
    const batch = { amount: parseUsd('1'), count: 2 };
    for (const wrong of [
      { amount: nanos(0n) },
      { amount: parseUsd('-1') },
      { amount: nanos(9_000_000_000_000_000_001n) },
      { count: 0 },
      { count: 1.5 },
      { count: 1001 },
      { note: 'two\nlines' },
      { note: 'x'.repeat(201) },
      { expiresAt: new Date(Date.now() - 1) },
    ])
      await expect(redemption.create({ ...batch, ...wrong })).rejects.toThrow(InvalidCodes);
    await expect(redemption.list()).resolves.toEqual([]);
  });

  it('cannot be redeemed by half', async () => {
    await oneCode();
    await expect(sql.query('UPDATE redemption_codes SET redeemed_at = now()')).rejects.toThrow(
      'redemption_code_is_redeemed_whole_or_not',
    );
  });
});
