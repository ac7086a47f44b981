import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AccountService, AccountStatus, AuthModule } from '../../src/auth/index.js';
import {
  ApiKeyService,
  InvalidKeyName,
  KeyAuthenticator,
  KeyDirectory,
  KeyIsDeleted,
  KeyNotFound,
  KeysModule,
  NetworksNotPossible,
  QuotaNotPossible,
  RefusedAddress,
  SecretAlreadyKnown,
  SecretNotImportable,
} from '../../src/keys/index.js';
import { InvalidLimit } from '../../src/platform/limits/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { parseUsd, Secret } from '../../src/platform/shared/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startOn } from '../support/modules.js';

const MODULES = [AuthModule, KeysModule, OnboardingModule];

/** A secret that could be ours. */
const aSecret = (name: string | number): string => `sk-${String(name).padStart(48, '0')}`;

describe('API keys', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let keys: ApiKeyService;
  let directory: KeyDirectory;
  let sql: DataSource;
  let accountId: string;

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, MODULES);
    keys = app.get(ApiKeyService);
    directory = app.get(KeyDirectory);
    sql = app.get(DataSource);
    ({ id: accountId } = await app.get(Onboarding).createAccount({ email: 'ann@example.com', groupName: 'saver' }));
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('show their secret once and store only its hash', async () => {
    const { id, secret, hint } = await keys.create({ accountId, name: ' laptop ' });
    expect(secret.reveal()).toMatch(/^sk-[0-9A-Za-z]{48}$/);
    expect(hint).toBe(`${secret.reveal().slice(0, 6)}…${secret.reveal().slice(-4)}`);
    const [row] = await sql.query<Record<string, unknown>[]>('SELECT * FROM api_keys');
    expect(JSON.stringify(row)).not.toContain(secret.reveal().slice(6, -4));
    await expect(keys.list(accountId)).resolves.toMatchObject([
      { id, name: 'laptop', hint, state: 'enabled', quota: undefined },
    ]);
  });

  it('know their caller: names, states, group, models, expiry', async () => {
    const expiresAt = new Date('2030-01-01T00:00:00Z');
    const one = await keys.create({ accountId, name: 'one' });
    const two = await keys.create({ accountId, name: 'two', groupName: 'fast', models: ['gpt-5.5'], expiresAt });
    await expect(directory.find(one.secret.reveal())).resolves.toMatchObject({
      keyId: one.id,
      keyName: 'one',
      keyState: 'enabled',
      keyVersion: 1,
      expiresAt: undefined,
      accountId,
      accountState: 'enabled',
      isMemberAllowed: true,
      groupName: 'saver',
      isGroupAllowed: true,
      models: undefined,
      strict: false,
      storesResponses: true,
      networks: undefined,
      keyLimits: {},
      accountLimits: {},
    });
    await expect(directory.find(two.secret.reveal())).resolves.toMatchObject({
      expiresAt: expiresAt.getTime(),
      groupName: 'fast',
      models: new Set(['gpt-5.5']),
    });
  });

  it('tell their caller whether they are strict, and whether responses may be kept', async () => {
    const strict = await keys.create({ accountId, name: 'strict', strict: true });
    const silent = await keys.create({ accountId, name: 'silent', neverStores: true });
    await expect(directory.find(strict.secret.reveal())).resolves.toMatchObject({
      strict: true,
      storesResponses: true,
    });
    await expect(directory.find(silent.secret.reveal())).resolves.toMatchObject({
      strict: false,
      storesResponses: false,
    });
    await expect(keys.list(accountId)).resolves.toMatchObject([
      { name: 'strict', strict: true, neverStores: false },
      { name: 'silent', strict: false, neverStores: true },
    ]);
  });

  it('tell their caller how much they and their account may ask for, and from where', async () => {
    const limits = { requestsPerMinute: 60, tokensPerMinute: 100_000, concurrency: 4 };
    const networks = ['203.0.113.0/24', '2001:db8::1'];
    const { id, secret } = await keys.create({ accountId, name: 'limited', limits, networks });
    const caller = await directory.find(secret.reveal());
    expect(caller).toMatchObject({ keyLimits: limits, accountLimits: {} });
    expect(['203.0.113.9', '2001:db8::1', '198.51.100.1'].map((ip) => caller?.networks?.includes(ip))).toEqual([
      true,
      true,
      false,
    ]);
    await expect(keys.list(accountId)).resolves.toMatchObject([{ limits, networks }]);
    await app.get(AccountService).setLimits(accountId, { concurrency: 8 });
    await expect(keys.setLimits(id, { concurrency: null, tokensPerMinute: 5 })).resolves.toEqual({
      limits: { requestsPerMinute: 60, tokensPerMinute: 5 },
      networks,
    });
    await eventually(
      async () =>
        expect(await directory.find(secret.reveal())).toMatchObject({
          keyVersion: 2,
          keyLimits: { requestsPerMinute: 60, tokensPerMinute: 5 },
          accountLimits: { concurrency: 8 },
        }),
      1000,
    );
    await keys.setLimits(id, { requestsPerMinute: null, tokensPerMinute: null }, []);
    await expect(directory.reload(id)).resolves.toMatchObject({ keyVersion: 3, networks: undefined, keyLimits: {} });
  });

  it('are refused limits and networks that are none', async () => {
    const { id } = await keys.create({ accountId, name: 'key' });
    await expect(keys.setLimits(id, { concurrency: 0 })).rejects.toThrow(InvalidLimit);
    await expect(keys.setLimits(id, {}, ['office'])).rejects.toThrow(NetworksNotPossible);
    await expect(keys.create({ accountId, name: 'key', networks: ['10.0.0.0/40'] })).rejects.toThrow(
      '“10.0.0.0/40” is not a network.',
    );
    await expect(keys.create({ accountId, name: 'key', limits: { requestsPerMinute: 1.5 } })).rejects.toThrow(
      InvalidLimit,
    );
    await expect(directory.reload(id)).resolves.toMatchObject({ keyVersion: 1 });
  });

  it('are looked at again, with the address, when their caller is outdated', async () => {
    const { id, secret } = await keys.create({ accountId, name: 'key' });
    const authenticator = app.get(KeyAuthenticator);
    const credentials = { candidates: [secret.reveal()], error: undefined };
    const caller = await authenticator.authenticate(credentials, '198.51.100.1');
    await keys.setLimits(id, {}, ['203.0.113.0/24']);
    await expect(authenticator.renew(caller, '198.51.100.1')).rejects.toThrow(RefusedAddress);
    await expect(authenticator.renew(caller, '203.0.113.1')).resolves.toMatchObject({ keyId: id });
    await expect(authenticator.authenticate(credentials, '')).rejects.toThrow(
      'Your IP address is not allowed for this key.',
    );
  });

  it('are distinguished when several headers carry keys: the secret of the caller is used', async () => {
    const [one, other] = [
      await keys.create({ accountId, name: 'one' }),
      await keys.create({ accountId, name: 'other' }),
    ];
    const caller = await directory.find(other.secret.reveal());
    if (caller === undefined) throw new Error('The key is not known.');
    const headers = { authorization: `Bearer ${one.secret.reveal()}`, 'x-api-key': other.secret.reveal() };
    const authenticator = app.get(KeyAuthenticator);
    expect((await authenticator.secretOf(caller, headers)).reveal()).toBe(other.secret.reveal());
    await expect(
      authenticator.secretOf(caller, { authorization: `Bearer ${one.secret.reveal()}` }),
    ).rejects.toMatchObject({ kind: 'invalid_token' });
  });

  it('are billed under the group default when neither key nor account names one', async () => {
    const { id } = await app.get(Onboarding).createAccount({ email: 'bob@example.com' });
    const { secret } = await keys.create({ accountId: id, name: 'key' });
    await expect(directory.find(secret.reveal())).resolves.toMatchObject({ groupName: 'default' });
  });

  it('are refused a name that is empty, too long or holds a line break', async () => {
    for (const name of ['', '   ', 'x'.repeat(101), 'a\nb'])
      await expect(keys.create({ accountId, name })).rejects.toThrow(InvalidKeyName);
  });

  it('can be taken over from another system, once and for good', async () => {
    const secret = new Secret(`sk-legacy-${'z'.repeat(30)}`);
    await expect(directory.find(secret.reveal())).resolves.toBeUndefined();
    const { id } = await keys.import({ accountId, name: 'old' }, secret);
    await eventually(async () => expect(await directory.find(secret.reveal())).toMatchObject({ keyId: id }));
    await expect(keys.import({ accountId, name: 'again' }, secret)).rejects.toThrow(SecretAlreadyKnown);
    await keys.delete(id);
    await expect(keys.import({ accountId, name: 'again' }, secret)).rejects.toThrow(SecretAlreadyKnown);
    await expect(keys.import({ accountId, name: 'short' }, new Secret('sk-short'))).rejects.toThrow(
      SecretNotImportable,
    );
    await expect(keys.list(accountId)).resolves.toHaveLength(1);
  });

  it('stay recognised after they are deleted, and cannot be changed any more', async () => {
    const { id, secret } = await keys.create({ accountId, name: 'key', quota: parseUsd('1') });
    await keys.delete(id);
    await eventually(async () =>
      expect(await directory.find(secret.reveal())).toMatchObject({ keyId: id, keyState: 'deleted' }),
    );
    await expect(keys.enable(id)).rejects.toThrow(KeyIsDeleted);
    await expect(keys.addQuota(id, parseUsd('1'))).rejects.toThrow(KeyIsDeleted);
    await expect(keys.disable('key_none')).rejects.toThrow(KeyNotFound);
  });

  it('have a quota that can be raised, and lowered no further than what is used and held', async () => {
    const { id } = await keys.create({ accountId, name: 'key', quota: parseUsd('5') });
    await sql.query('UPDATE api_keys SET used = 1500000000, held = 500000000');
    await expect(keys.addQuota(id, parseUsd('2.5'))).resolves.toBe(7_500_000_000n);
    await expect(keys.addQuota(id, parseUsd('-5.500000001'))).rejects.toThrow(
      'A quota of $7.5 cannot be changed by $-5.500000001: $1.5 is used and $0.5 is on hold for running calls.',
    );
    await expect(keys.addQuota(id, parseUsd('-5.5'))).resolves.toBe(2_000_000_000n);
    const unlimited = await keys.create({ accountId, name: 'unlimited' });
    await expect(keys.addQuota(unlimited.id, parseUsd('1'))).rejects.toThrow(QuotaNotPossible);
    await expect(keys.create({ accountId, name: 'negative', quota: parseUsd('-1') })).rejects.toThrow(QuotaNotPossible);
  });

  it('raise their version with every change', async () => {
    const { id } = await keys.create({ accountId, name: 'key', quota: parseUsd('1') });
    await keys.disable(id);
    await keys.enable(id);
    await keys.addQuota(id, parseUsd('1'));
    await expect(directory.reload(id)).resolves.toMatchObject({ keyVersion: 4, keyState: 'enabled' });
    await keys.delete(id);
    await expect(directory.reload(id)).resolves.toMatchObject({ keyVersion: 5, keyState: 'deleted' });
  });

  it('are described to their holder with what the wallet has', async () => {
    const credit = { amount: parseUsd('3'), reason: 'welcome' };
    const { id: owner } = await app.get(Onboarding).createAccount({ email: 'bob@example.com' }, credit);
    const { id } = await keys.create({ accountId: owner, name: 'key', quota: parseUsd('2'), groupName: 'fast' });
    await sql.query('UPDATE api_keys SET used = 7, held = 5 WHERE id = $1', [id]);
    await sql.query('UPDATE wallets SET held = 5, holds = 1 WHERE account_id = $1', [owner]);
    await expect(keys.describe(id)).resolves.toEqual({
      name: 'key',
      group: 'fast',
      quota: 2_000_000_000n,
      used: 7n,
      held: 5n,
      budgets: { daily: undefined, weekly: undefined, monthly: undefined },
      limits: {},
      wallet: { balance: 3_000_000_000n, held: 5n, holds: 1, owed: 0n },
    });
    await expect(keys.describe('key_none')).rejects.toThrow(KeyNotFound);
  });

  describe('in the directory', () => {
    /** Queries for callers that reach the database from now on. */
    const countLookups = async (work: () => Promise<unknown>): Promise<number> => {
      const { CallerRepository } = await import('../../src/keys/key-directory.js');
      const repository = app.get(CallerRepository);
      const find = repository.findByHashes.bind(repository);
      let lookups = 0;
      repository.findByHashes = (hashes) => ((lookups += 1), find(hashes));
      await work();
      repository.findByHashes = find;
      return lookups;
    };

    it('are looked up once for many calls at a time, and from memory after that', async () => {
      const { secret } = await keys.create({ accountId, name: 'key' });
      await eventually(async () => {
        const lookups = await countLookups(async () => {
          await Promise.all(Array.from({ length: 50 }, () => directory.find(secret.reveal())));
          await directory.find(secret.reveal());
        });
        expect(lookups).toBeLessThanOrEqual(1);
      });
    });

    it('cost few queries when many unknown secrets are tried at once', async () => {
      const lookups = await countLookups(() =>
        Promise.all(Array.from({ length: 1000 }, (_, index) => directory.find(aSecret(index)))),
      );
      expect(lookups).toBeLessThanOrEqual(5);
    });

    it('are remembered as unknown', async () => {
      await directory.find(aSecret('stranger'));
      await expect(countLookups(() => directory.find(aSecret('stranger')))).resolves.toBe(0);
    });

    it('are not looked up when a secret can be none of ours', async () => {
      const lookups = await countLookups(async () => {
        for (const secret of ['', 'sk-short', 'x'.repeat(51), `pk-${'0'.repeat(48)}`, `sk-${'x'.repeat(510)}`])
          await expect(directory.find(secret)).resolves.toBeUndefined();
      });
      expect(lookups).toBe(0);
    });

    it('are found among many unknown keys, cached or not', async () => {
      const [old, fresh] = await Promise.all(['old', 'fresh'].map((name) => keys.create({ accountId, name })));
      await eventually(async () => expect(await directory.find(old?.secret.reveal() ?? '')).toBeDefined());
      const crowd = (from: number) => Array.from({ length: 1000 }, (_, index) => directory.find(aSecret(from + index)));
      const found: string[] = [];
      const otherUsers = [...crowd(0), ...crowd(1000)];
      const ours = [old, fresh].map((key) => directory.find(key?.secret.reveal() ?? ''));
      for (const [index, caller] of ours.entries())
        void caller.then((known) => found.push(`${index === 0 ? 'old' : 'fresh'} ${known?.keyName}`));
      await Promise.all([...otherUsers.map((otherUser) => expect(otherUser).resolves.toBeUndefined()), ...ours]);
      expect(found).toEqual(['old old', 'fresh fresh']);
    });

    it.each(['before it was made', 'while it was being looked up'])(
      'are known within a second, here and elsewhere, although a secret was taken for unknown %s',
      async (when) => {
        const { CallerRepository } = await import('../../src/keys/key-directory.js');
        const secret = aSecret('late');
        const other = await startOn(database, MODULES);
        try {
          const take = () => keys.import({ accountId, name: 'late' }, new Secret(secret));
          const repository = app.get(CallerRepository);
          const find = repository.findByHashes.bind(repository);
          if (when !== 'before it was made')
            repository.findByHashes = async (hashes) => {
              const callers = await find(hashes);
              repository.findByHashes = find;
              await take();
              return callers;
            };
          const directories = [directory, other.get(KeyDirectory)];
          for (const one of directories.toReversed()) await expect(one.find(secret)).resolves.toBeUndefined();
          if (when === 'before it was made') await take();
          for (const one of directories)
            await eventually(async () => expect(await one.find(secret)).toMatchObject({ keyName: 'late' }), 1000);
        } finally {
          await other.close();
        }
      },
    );

    it.each([
      ['a key is disabled', (id: string) => keys.disable(id), { keyState: 'disabled' }],
      ['a key is deleted', (id: string) => keys.delete(id), { keyState: 'deleted' }],
      ['its account is disabled', () => app.get(AccountStatus).disable(accountId), { accountState: 'disabled' }],
    ])('follow within a second in another process when %s', async (_what, change, expected) => {
      const other = await startOn(database, MODULES);
      try {
        const { id, secret } = await keys.create({ accountId, name: 'key' });
        const elsewhere = other.get(KeyDirectory);
        await elsewhere.find(secret.reveal());
        await change(id);
        await eventually(async () => expect(await elsewhere.find(secret.reveal())).toMatchObject(expected), 1000);
      } finally {
        await other.close();
      }
    });

    it('are not kept when they changed while they were being looked up', async () => {
      const { CallerRepository } = await import('../../src/keys/key-directory.js');
      const { id, secret } = await keys.create({ accountId, name: 'key' });
      const repository = app.get(CallerRepository);
      const find = repository.findByHashes.bind(repository);
      repository.findByHashes = async (hashes) => {
        const callers = await find(hashes);
        repository.findByHashes = find;
        await keys.disable(id);
        directory.forget(id);
        return callers;
      };
      directory.forget(id);
      await directory.find(secret.reveal());
      await expect(directory.find(secret.reveal())).resolves.toMatchObject({ keyState: 'disabled' });
    });

    it('are still found, and changes noticed, after the notification connection was lost', async () => {
      const { id, secret } = await keys.create({ accountId, name: 'key' });
      await directory.find(secret.reveal());
      await sql.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%listen'`,
      );
      await sql.query(`UPDATE api_keys SET state = 'disabled', version = version + 1 WHERE id = $1`, [id]);
      await eventually(
        async () => expect(await directory.find(secret.reveal())).toMatchObject({ keyState: 'disabled' }),
        3000,
      );
    });

    it('say that the service is unavailable when the database does not answer', async () => {
      await sql.query('ALTER TABLE api_keys RENAME TO gone');
      await expect(directory.find(aSecret('anything'))).rejects.toMatchObject({
        kind: 'unavailable',
        details: { retryAfterSeconds: 1 },
      });
      await sql.query('ALTER TABLE gone RENAME TO api_keys');
      await expect(directory.find(aSecret('anything'))).resolves.toBeUndefined();
    });
  });
});
