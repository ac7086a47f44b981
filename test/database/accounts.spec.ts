import type { TestingModule } from '@nestjs/testing';
import {
  AccountExists,
  AccountGone,
  AccountNotFound,
  AccountService,
  AccountStatus,
  AuthModule,
  InvalidAccount,
} from '../../src/auth/index.js';
import { Notifications } from '../../src/platform/database/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { ApiKeyService, KeyDirectory, KeysModule } from '../../src/keys/index.js';
import { nanos, parseUsd, Secret } from '../../src/platform/shared/index.js';
import { DebitTooLarge, LedgerCheck, WalletModule, WalletService } from '../../src/wallet/index.js';
import { DataSource } from 'typeorm';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startOn } from '../support/modules.js';

const MODULES = [AuthModule, WalletModule, KeysModule, OnboardingModule];

describe('accounts', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let onboarding: Onboarding;
  let accounts: AccountService;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, MODULES);
    onboarding = app.get(Onboarding);
    accounts = app.get(AccountService);
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('are made with a wallet and what it starts with, under an address in lower case', async () => {
    const credit = { amount: parseUsd('2.5'), reason: 'welcome' };
    const { id, email, generatedPassword } = await onboarding.createAccount(
      { email: 'Ann@Example.com', groupName: 'saver' },
      credit,
    );
    expect(email).toBe('ann@example.com');
    expect(generatedPassword?.reveal()).toMatch(/^[\w-]{24}$/);
    await expect(accounts.get('ANN@example.com')).resolves.toMatchObject({
      id,
      role: 'user',
      state: 'enabled',
      groupName: 'saver',
      verifiedAt: undefined,
    });
    await expect(app.get(WalletService).balanceOf(id)).resolves.toMatchObject({ balance: 2_500_000_000n, held: 0n });
    await expect(app.get(LedgerCheck).run()).resolves.toEqual({ exact: true, differences: [] });
  });

  it('keep a password that was chosen only as an Argon2id hash', async () => {
    const password = new Secret('a long enough password');
    const { generatedPassword } = await onboarding.createAccount({ email: 'ann@example.com', password });
    expect(generatedPassword).toBeUndefined();
    const [row] = await app.get(DataSource).query<{ password_hash: string }[]>('SELECT password_hash FROM accounts');
    expect(row?.password_hash).toMatch(/^\$argon2id\$/);
  });

  it('are refused for an address that is taken, in whatever case, and for what is no address', async () => {
    await onboarding.createAccount({ email: 'ann@example.com' });
    await expect(onboarding.createAccount({ email: 'ANN@example.com' })).rejects.toThrow(AccountExists);
    await expect(onboarding.createAccount({ email: 'ann' })).rejects.toThrow(InvalidAccount);
    await expect(
      onboarding.createAccount({ email: 'bob@example.com', password: new Secret('too short') }),
    ).rejects.toThrow('Enter a password of 12 to 128 characters.');
    await expect(onboarding.createAccount({ email: 'bob@example.com', name: 'Bob\nBcc' })).rejects.toThrow(
      InvalidAccount,
    );
    await expect(accounts.list()).resolves.toHaveLength(1);
  });

  it('are not made at all when what they start with is refused', async () => {
    const credit = { amount: parseUsd('-1'), reason: 'nonsense' };
    await expect(onboarding.createAccount({ email: 'ann@example.com' }, credit)).rejects.toThrow(DebitTooLarge);
    await expect(accounts.list()).resolves.toEqual([]);
  });

  it('are made once when two ask for the same address at the same time', async () => {
    const results = await Promise.allSettled([1, 2].map(() => onboarding.createAccount({ email: 'ann@example.com' })));
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('tell every process when they are disabled and enabled', async () => {
    const { id } = await onboarding.createAccount({ email: 'ann@example.com' });
    const standing = app.get(AccountStatus);
    const received: unknown[] = [];
    app.get(Notifications).on('account', (payload) => void received.push(payload));
    await standing.disable(id);
    await expect(accounts.get('ann@example.com')).resolves.toMatchObject({ state: 'disabled' });
    await standing.enable(id);
    await expect(accounts.get('ann@example.com')).resolves.toMatchObject({ state: 'enabled' });
    await eventually(() => expect(received).toEqual([{ id }, { id }]));
    await expect(standing.disable('acc_none')).rejects.toThrow(AccountGone);
    await expect(accounts.get('nobody@example.com')).rejects.toThrow(AccountNotFound);
  });

  it('are listed oldest first', async () => {
    for (const name of ['b', 'a', 'c']) await onboarding.createAccount({ email: `${name}@example.com` });
    expect((await accounts.list()).map(({ email }) => email)).toEqual([
      'b@example.com',
      'a@example.com',
      'c@example.com',
    ]);
  });

  it('begin with one administrator who has $5 and a first key, even when two processes start together', async () => {
    const other = await startOn(database, MODULES);
    try {
      const runs = await Promise.all([onboarding.firstRun(), other.get(Onboarding).firstRun(), onboarding.firstRun()]);
      const [first, ...more] = runs.filter((run) => run !== undefined);
      expect(more).toEqual([]);
      const [administrator, ...others] = await accounts.list();
      expect(others).toEqual([]);
      expect(administrator).toMatchObject({ email: first?.email, role: 'admin', verifiedAt: expect.any(Date) as Date });
      expect(first?.password).toHaveLength(24);
      const id = administrator?.id ?? '';
      await expect(app.get(WalletService).balanceOf(id)).resolves.toMatchObject({ balance: nanos(5_000_000_000n) });
      await expect(app.get(ApiKeyService).list(id)).resolves.toMatchObject([{ name: 'first key', state: 'enabled' }]);
      await expect(app.get(KeyDirectory).find(first?.keySecret ?? '')).resolves.toMatchObject({ accountId: id });
      await expect(app.get(LedgerCheck).run()).resolves.toMatchObject({ exact: true });
    } finally {
      await other.close();
    }
  });

  it('are left alone on a later run', async () => {
    await onboarding.createAccount({ email: 'ann@example.com' });
    await expect(onboarding.firstRun()).resolves.toBeUndefined();
    await expect(accounts.list()).resolves.toHaveLength(1);
  });
});
