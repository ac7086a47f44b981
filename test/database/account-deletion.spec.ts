import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { actingAs, COMMAND_LINE } from '../../src/platform/audit/index.js';
import { AccountService, AccountStatus, AuthModule, SessionService } from '../../src/auth/index.js';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { AccountDeletion, Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import {
  LedgerCheck,
  RedemptionService,
  WalletClosed,
  WalletClosure,
  WalletInUse,
  WalletModule,
  WalletService,
} from '../../src/wallet/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startOn } from '../support/modules.js';

/** What waits for a lock that another transaction has. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;

describe('the deletion of an account', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let ann: string;

  const sql = <Row>(text: string): Promise<Row[]> => app.get(DataSource).query(text, [ann]);

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [AuthModule, WalletModule, KeysModule, OnboardingModule]);
    const opening = { amount: parseUsd('2.5'), reason: 'welcome' };
    ({ id: ann } = await app.get(Onboarding).createAccount({ email: 'ann@example.com', name: 'Ann' }, opening));
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('ends its sessions and keys, and gives what is left to the house, so that the ledger stays exact', async () => {
    await app.get(SessionService).start(ann, 'a'.repeat(43), true, { ip: '192.0.2.1', userAgent: 'test' });
    await app.get(ApiKeyService).create({ accountId: ann, name: 'laptop' });
    await app.get(AccountDeletion).run(ann);
    await expect(app.get(AccountService).byId(ann)).resolves.toMatchObject({ state: 'deleted', name: '' });
    expect(await sql('SELECT 1 FROM sessions WHERE account_id = $1')).toEqual([]);
    await expect(app.get(ApiKeyService).list(ann)).resolves.toMatchObject([{ name: 'laptop', state: 'deleted' }]);
    await expect(app.get(WalletService).balanceOf(ann)).resolves.toMatchObject({ balance: 0n });
    const entries = await sql<object>(
      `SELECT e.kind, e.reason, l.amount FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
        WHERE l.ledger_account = 'wallet:' || $1 ORDER BY e.id`,
    );
    expect(entries).toEqual([
      { kind: 'credit', reason: 'welcome', amount: '2500000000' },
      { kind: 'debit', reason: 'Account deleted', amount: '-2500000000' },
    ]);
    await expect(app.get(LedgerCheck).run()).resolves.toEqual({ exact: true, differences: [] });
  });

  it('erases the address of mails whose link was used, of the account and of its registration', async () => {
    const use = `INSERT INTO verifications (id, purpose, subject, email, token_hash, sent_at, expires_at, used_at)
                 VALUES ($1, $2, $3, 'ann@example.com', sha256(convert_to($1, 'UTF8')), now(), now(), now())`;
    await app.get(DataSource).query(use, ['ver_1', 'register', 'reg_1']);
    await app.get(DataSource).query(use, ['ver_2', 'change', ann]);
    await app.get(AccountDeletion).run(ann);
    await expect(app.get(DataSource).query('SELECT id FROM verifications')).resolves.toEqual([]);
  });

  it('waits for calls that run: nothing is changed while one does', async () => {
    await sql('UPDATE wallets SET holds = 2 WHERE account_id = $1');
    const refused = app.get(AccountDeletion).run(ann);
    await expect(refused).rejects.toThrow(WalletInUse);
    await expect(refused).rejects.toThrow('2 calls are still running on this account. Suspend the account');
    await expect(app.get(AccountService).byId(ann)).resolves.toMatchObject({ state: 'enabled', name: 'Ann' });
  });

  it('is final for the wallet too: nothing is put into it afterwards, and a code stays worth its amount', async () => {
    const { codes } = await app.get(RedemptionService).create({ amount: parseUsd('5'), count: 1 });
    await app.get(AccountDeletion).run(ann);
    await expect(app.get(RedemptionService).redeem(ann, codes[0] ?? '')).rejects.toThrow(WalletClosed);
    await expect(app.get(WalletService).credit(ann, parseUsd('1'), 'late')).rejects.toThrow(WalletClosed);
    await expect(app.get(WalletService).balanceOf(ann)).resolves.toMatchObject({ balance: 0n });
    await expect(app.get(DataSource).query('SELECT redeemed_at FROM redemption_codes')).resolves.toEqual([
      { redeemed_at: null },
    ]);
  });

  it('refuses what was to be put in while it held the wallet', async () => {
    const { codes } = await app.get(RedemptionService).create({ amount: parseUsd('5'), count: 1 });
    const late: Promise<unknown>[] = [];
    await app.get(AccountStatus).delete(ann, async (manager) => {
      await app.get(WalletClosure).close(ann, 'Account deleted', manager);
      late.push(app.get(RedemptionService).redeem(ann, codes[0] ?? ''));
      late.push(app.get(WalletService).credit(ann, parseUsd('1'), 'late'));
      void Promise.allSettled(late);
      await eventually(async () => expect(await app.get(DataSource).query(WAITING)).toHaveLength(2));
    });
    for (const refused of late) await expect(refused).rejects.toThrow(WalletClosed);
    await expect(app.get(WalletService).balanceOf(ann)).resolves.toMatchObject({ balance: 0n });
  });

  it('is on record with what it did, under the address that the account had', async () => {
    await actingAs(COMMAND_LINE, () => app.get(AccountDeletion).run(ann));
    const entries = await sql<object>(
      'SELECT action, actor_name, object_name, lines, reason FROM audit_entries WHERE object_id = $1 ORDER BY id',
    );
    const by = { actor_name: 'Command line', object_name: 'ann@example.com' };
    expect(entries).toEqual([
      { ...by, action: 'debited', lines: ['balance $2.5 → $0'], reason: 'Account deleted' },
      { ...by, action: 'deleted', lines: [], reason: '' },
    ]);
  });
});
