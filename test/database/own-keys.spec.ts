import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { CatalogService, Offer } from '../../src/catalog/index.js';
import { CatalogImport, ChannelsModule } from '../../src/channels/index.js';
import {
  ApiKeyService,
  BudgetNotPossible,
  GroupNotOffered,
  KeyChangedMeanwhile,
  type KeyCondition,
  KeyDirectory,
  type KeyFilter,
  KeyIsDeleted,
  KeyNotFound,
  type KeyPage,
  type KeySettings,
  KeysModule,
  ModelNotOffered,
  OwnKeys,
  QuotaNotPossible,
} from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/onboarding/index.js';
import { parseUsd } from '../../src/shared/index.js';
import { KeyUse, UsageModule } from '../../src/usage/index.js';
import { aCallRow } from '../support/call-rows.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startOn } from '../support/modules.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

const CATALOG = `
groups:
  - { name: default, multiplier: 1 }
  - { name: saver, multiplier: 0.8 }
models:
  - { name: large, context_window: 1000, max_output_tokens: 100, groups: [default, saver], prices: free }
  - { name: small, context_window: 1000, max_output_tokens: 100, groups: [default], prices: free }
channels:
  - { name: one, protocol: responses, base_url: https://one.example, credentials: [x], groups: [default, saver], models: { large: l, small: s } }
`;

interface Person {
  readonly accountId: string;
  readonly groupName: string | undefined;
}

describe("an account's own keys", () => {
  let database: TestDatabase;
  let app: TestingModule;
  let keys: OwnKeys;
  let sql: DataSource;
  let ann: Person;
  let bob: Person;

  const someone = async (email: string, groupName?: string): Promise<Person> => {
    const { id } = await app.get(Onboarding).createAccount({ email, ...(groupName !== undefined && { groupName }) });
    return { accountId: id, groupName };
  };
  const aKey = async (settings: Partial<KeySettings> = {}, person = ann): Promise<string> =>
    (await keys.create(person, { name: 'key', ...settings })).id;
  const names = async (filter: KeyFilter = {}, person = ann): Promise<readonly string[]> =>
    (await keys.page(person.accountId, filter)).keys.map(({ name }) => name);
  const of = (id: string, { accountId } = ann) => ({ accountId, id });

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [KeysModule, ChannelsModule, OnboardingModule, UsageModule]);
    keys = app.get(OwnKeys);
    sql = app.get(DataSource);
    const protocols = new Map([['responses', 'bearer']] as const);
    await app.get(CatalogImport).apply(CATALOG, { fileName: 'test.yaml', prune: false, protocols });
    await app.get(CatalogService).reload();
    [ann, bob] = [await someone('ann@example.com'), await someone('bob@example.com', 'saver')];
    await sql.query(`SELECT create_call_partitions(now() - interval '40 days', 3)`);
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  describe('are listed', () => {
    it('newest first, without those of others and, unless asked for, deleted ones', async () => {
      await aKey({ name: 'first' });
      const gone = await aKey({ name: 'gone' });
      await aKey({ name: 'last' });
      await aKey({ name: 'bobs' }, bob);
      await keys.delete(of(gone));
      await expect(names()).resolves.toEqual(['last', 'first']);
      await expect(names({ condition: 'deleted' })).resolves.toEqual(['gone']);
    });

    it('with the group that they are billed under, which can be asked for', async () => {
      await aKey({ name: 'own', groupName: 'default' }, bob);
      await aKey({ name: 'of account' }, bob);
      const page = await keys.page(bob.accountId, {});
      expect(page.keys.map(({ group, groupName }) => [group, groupName])).toEqual([
        ['saver', undefined],
        ['default', 'default'],
      ]);
      await expect(names({ group: 'saver' }, bob)).resolves.toEqual(['of account']);
      await expect(keys.groupsInUse(bob.accountId)).resolves.toEqual(['default', 'saver']);
      await expect(keys.groupsInUse(ann.accountId)).resolves.toEqual([]);
    });

    it('by a part of the name or of what is shown of the secret, taken to the letter', async () => {
      const { hint } = await keys.create(ann, { name: '100%_a\\b' });
      await aKey({ name: '100 times' });
      for (const text of ['100%', '%_', 'A\\B', '\\', hint, hint.slice(-4)])
        await expect(names({ text })).resolves.toEqual(['100%_a\\b']);
      await expect(names({ text: '100' })).resolves.toHaveLength(2);
      await expect(names({ text: "'; DROP TABLE api_keys; --" })).resolves.toEqual([]);
    });

    it('page by page, in both directions, whatever was made meanwhile', async () => {
      const made: string[] = [];
      for (let number = 1; number <= 120; number += 1)
        made.push((await app.get(ApiKeyService).create({ accountId: ann.accountId, name: String(number) })).id);
      const page = async (position: { before?: string; after?: string } = {}): Promise<KeyPage> =>
        keys.page(ann.accountId, {}, position);
      const first = await page();
      expect([first.newer, first.older, first.keys.length]).toEqual([false, true, 50]);
      await aKey({ name: 'meanwhile' });
      const second = await page({ before: first.keys.at(-1)!.id });
      expect([second.newer, second.older]).toEqual([true, true]);
      const third = await page({ before: second.keys.at(-1)!.id });
      expect([third.newer, third.older, third.keys.length]).toEqual([true, false, 20]);
      // Newest first; of those that are made within one millisecond, whichever has the larger id.
      expect([...first.keys, ...second.keys, ...third.keys].map(({ id }) => id)).toEqual(made.toSorted().toReversed());
      const back = await page({ after: third.keys[0]!.id });
      expect(back.keys.map(({ id }) => id)).toEqual(second.keys.map(({ id }) => id));
      expect([back.newer, back.older]).toEqual([true, true]);
      const newest = await page({ after: first.keys[0]!.id });
      expect([newest.keys.map(({ name }) => name), newest.newer, newest.older]).toEqual([['meanwhile'], false, true]);
    });

    it('with the time of the last call, running and refused ones included', async () => {
      const [never, finished, running] = [await aKey(), await aKey(), await aKey()];
      const [old, recent] = [daysAgo(35), daysAgo(2)];
      await aCallRow(sql, { id: 'req_1', ...ann, keyId: finished, createdAt: old.toISOString() });
      await aCallRow(sql, { id: 'req_2', ...ann, keyId: finished, createdAt: recent.toISOString(), status: 'refused' });
      await aCallRow(sql, { id: 'req_3', ...ann, keyId: running, createdAt: old.toISOString() });
      const now = new Date();
      await sql.query(
        `INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, group_name, protocol, stream,
           effort, ip, snapshot) VALUES ('req_4', $1, $2, 0, 'p', 'm', $3, 'default', 'responses', true, '', '', '{}')`,
        [ann.accountId, running, now],
      );
      const used = new Map((await keys.page(ann.accountId, {})).keys.map(({ id, lastUsedAt }) => [id, lastUsedAt]));
      expect([used.get(never), used.get(finished), used.get(running)]).toEqual([undefined, recent, now]);
    });
  });

  describe('are in a condition', () => {
    const conditions = async (id: string): Promise<readonly KeyCondition[]> => (await keys.get(of(id))).conditions;
    const use = (id: string, used: string): Promise<unknown> =>
      sql.query('UPDATE api_keys SET used = $2 WHERE id = $1', [id, parseUsd(used)]);
    const useBudget = (id: string, period: string, used: string, ago = 0): Promise<unknown> =>
      sql.query(
        `INSERT INTO key_budgets (key_id, period, period_start, used, "limit")
         VALUES ($1, $2, (budget_period_start($2, now()) - $4 * ('1 ' || $2)::interval)::date, $3, NULL)`,
        [id, period, parseUsd(used), ago],
      );

    it.each([
      ['0', ['enabled']],
      ['7.999999999', ['enabled']],
      ['8', ['near-quota', 'enabled']],
      ['9.999999999', ['near-quota', 'enabled']],
      ['10', ['used-up']],
    ])('that follows from $%s used of a quota of $10', async (used, expected) => {
      const id = await aKey({ quota: parseUsd('10') });
      await use(id, used);
      await expect(conditions(id)).resolves.toEqual(expected);
    });

    it('that follows from the fullest of its limits, budgets of the period that runs included', async () => {
      const id = await aKey({
        quota: parseUsd('10'),
        budgets: { daily: parseUsd('1'), weekly: parseUsd('2'), monthly: parseUsd('3') },
      });
      await useBudget(id, 'day', '1', 1);
      await expect(conditions(id)).resolves.toEqual(['enabled']);
      await useBudget(id, 'week', '1.6');
      await expect(conditions(id)).resolves.toEqual(['near-quota', 'enabled']);
      await useBudget(id, 'day', '1');
      await expect(conditions(id)).resolves.toEqual(['used-up']);
    });

    it('of nothing left when a limit is 0', async () => {
      await expect(conditions(await aKey({ quota: parseUsd('0') }))).resolves.toEqual(['used-up']);
    });

    it('that follows from its expiry', async () => {
      await expect(conditions(await aKey({ expiresAt: daysAgo(-8) }))).resolves.toEqual(['enabled']);
      await expect(conditions(await aKey({ expiresAt: daysAgo(-6.9) }))).resolves.toEqual(['expires-soon', 'enabled']);
      await expect(conditions(await aKey({ expiresAt: daysAgo(0) }))).resolves.toEqual(['expired']);
    });

    it('that its owner has put it in, whatever else', async () => {
      const id = await aKey({ quota: parseUsd('0'), expiresAt: daysAgo(1) });
      await keys.disable(of(id));
      await expect(conditions(id)).resolves.toEqual(['disabled']);
      await keys.delete(of(id));
      await expect(conditions(id)).resolves.toEqual(['deleted']);
    });

    it('that can be asked for, also when another one matters more', async () => {
      const id = await aKey({ name: 'both', quota: parseUsd('10'), expiresAt: daysAgo(-3) });
      await aKey({ name: 'plain' });
      await use(id, '9');
      await expect(conditions(id)).resolves.toEqual(['near-quota', 'expires-soon', 'enabled']);
      await expect(names({ condition: 'expires-soon' })).resolves.toEqual(['both']);
      await expect(names({ condition: 'near-quota' })).resolves.toEqual(['both']);
      await expect(names({ condition: 'enabled' })).resolves.toEqual(['plain', 'both']);
      await expect(names({ condition: 'expired' })).resolves.toEqual([]);
    });
  });

  describe('can be changed', () => {
    const settings: KeySettings = {
      name: 'renamed',
      groupName: 'saver',
      models: ['large'],
      expiresAt: daysAgo(-30),
      quota: parseUsd('20'),
      budgets: { daily: parseUsd('1'), monthly: parseUsd('5') },
      limits: { requestsPerMinute: 60, concurrency: 4 },
      networks: ['203.0.113.0/24', '2001:db8::1'],
      strict: true,
      neverStores: true,
    };

    it('as a whole: what is left out is lifted', async () => {
      const id = await aKey();
      await keys.change(ann, id, 1, settings);
      const changed = await keys.get(of(id));
      const { budgets, ...others } = settings;
      expect(changed).toMatchObject({ ...others, group: 'saver' });
      expect([changed.budgets.daily?.limit, changed.budgets.weekly, changed.budgets.monthly?.limit]).toEqual([
        budgets?.daily,
        undefined,
        budgets?.monthly,
      ]);
      await keys.change(ann, id, changed.version, { name: 'plain' });
      expect(await keys.get(of(id))).toMatchObject({
        name: 'plain',
        group: 'default',
        groupName: undefined,
        models: undefined,
        expiresAt: undefined,
        quota: undefined,
        budgets: { daily: undefined, weekly: undefined, monthly: undefined },
        networks: undefined,
        strict: false,
        neverStores: false,
      });
      expect((await keys.get(of(id))).limits).toEqual({});
    });

    it('so that every process reads them anew', async () => {
      const { id, secret } = await keys.create(ann, { name: 'key' });
      await app.get(KeyDirectory).find(secret.reveal());
      await keys.change(ann, id, 1, settings);
      await eventually(
        async () => expect(await app.get(KeyDirectory).find(secret.reveal())).toMatchObject({ groupName: 'saver' }),
        1000,
      );
    });

    it('only from what they are now: nothing of another change is overwritten', async () => {
      const id = await aKey();
      await keys.change(ann, id, 1, { name: 'by one' });
      await expect(keys.change(ann, id, 1, { name: 'by the other' })).rejects.toThrow(KeyChangedMeanwhile);
      await expect(keys.change(ann, id, 1, settings)).rejects.toMatchObject({ kind: 'conflict' });
      expect(await keys.get(of(id))).toMatchObject({ name: 'by one', quota: undefined });
    });

    it('all at once or not at all, with no limit below what is used and held', async () => {
      const id = await aKey({ quota: parseUsd('10') });
      await sql.query('UPDATE api_keys SET used = 1500000000, held = 500000000');
      await sql.query(
        `INSERT INTO key_budgets (key_id, period, period_start, used, "limit")
         VALUES ($1, 'day', budget_period_start('day', now()), 1500000000, NULL)`,
        [id],
      );
      const { version } = await keys.get(of(id));
      await expect(keys.change(ann, id, version, { name: 'lower', quota: parseUsd('1.9') })).rejects.toThrow(
        'A quota of $1.9 is not possible: $1.5 is used and $0.5 is on hold for running calls.',
      );
      await expect(
        keys.change(ann, id, version, { name: 'lower', budgets: { daily: parseUsd('1.4') } }),
      ).rejects.toThrow(BudgetNotPossible);
      expect(await keys.get(of(id))).toMatchObject({ name: 'key', quota: parseUsd('10'), version });
      await keys.change(ann, id, version, { name: 'lower', quota: parseUsd('2') });
      expect(await keys.get(of(id))).toMatchObject({ name: 'lower', quota: parseUsd('2') });
    });

    it('in their quota alone, from whatever it is', async () => {
      const id = await aKey({ quota: parseUsd('10') });
      await expect(keys.raiseQuota(of(id), parseUsd('5'))).resolves.toBe(parseUsd('15'));
      await expect(keys.raiseQuota(of(await aKey()), parseUsd('5'))).rejects.toThrow(QuotaNotPossible);
    });

    it('no more when they are deleted', async () => {
      const id = await aKey();
      await keys.delete(of(id));
      const changes = await Promise.allSettled([
        keys.enable(of(id)),
        keys.disable(of(id)),
        keys.delete(of(id)),
        keys.raiseQuota(of(id), parseUsd('1')),
        keys.change(ann, id, 2, { name: 'again' }),
      ]);
      for (const change of changes) expect(change).toMatchObject({ reason: expect.any(KeyIsDeleted) });
    });

    it('by nobody else: to others they do not exist', async () => {
      const id = await aKey({ quota: parseUsd('10') });
      const theirs = of(id, bob);
      const attempts = await Promise.allSettled([
        keys.get(theirs),
        keys.enable(theirs),
        keys.disable(theirs),
        keys.delete(theirs),
        keys.raiseQuota(theirs, parseUsd('1')),
        keys.change(bob, id, 1, { name: 'mine' }),
      ]);
      for (const attempt of attempts) expect(attempt).toMatchObject({ reason: expect.any(KeyNotFound) });
      expect(await keys.get(of(id))).toMatchObject({
        name: 'key',
        state: 'enabled',
        quota: parseUsd('10'),
        version: 1,
      });
    });
  });

  describe('are for what can be called', () => {
    it('when they are made: a group that is offered, and models of it', async () => {
      await expect(keys.create(ann, { name: 'key', groupName: 'secret' })).rejects.toThrow(GroupNotOffered);
      await expect(keys.create(ann, { name: 'key', models: ['unknown'] })).rejects.toThrow(ModelNotOffered);
      await expect(keys.create(ann, { name: 'key', groupName: 'saver', models: ['small'] })).rejects.toThrow(
        'Untick small: the group “saver” does not answer for it.',
      );
      await expect(keys.create(bob, { name: 'key', models: ['small'] })).rejects.toMatchObject({
        details: { param: 'models' },
      });
      await expect(keys.create(bob, { name: 'key', groupName: 'default', models: ['small'] })).resolves.toBeDefined();
    });

    it('and keep what was taken away meanwhile, until it is changed', async () => {
      const { id } = await app
        .get(ApiKeyService)
        .create({ accountId: ann.accountId, name: 'old', groupName: 'gone', models: ['gone-too'] });
      await keys.change(ann, id, 1, { name: 'renamed', groupName: 'gone', models: ['gone-too'] });
      await expect(keys.change(ann, id, 2, { name: 'renamed', models: ['gone-too'] })).rejects.toThrow(ModelNotOffered);
      await keys.change(ann, id, 2, { name: 'renamed' });
      await expect(keys.change(ann, id, 3, { name: 'back', groupName: 'gone' })).rejects.toThrow(GroupNotOffered);
      expect(app.get(Offer).groupsFor(undefined)).toHaveLength(2);
    });
  });

  describe('were used', () => {
    const at = (days: number) => ({ createdAt: daysAgo(days).toISOString() });

    it('so often today and within a day, and last at some time', async () => {
      const keyId = await aKey();
      const use = app.get(KeyUse);
      await expect(use.recent(of(keyId), daysAgo(0.1))).resolves.toEqual({
        callsSince: 0,
        callsInDay: 0,
        lastAt: undefined,
      });
      await aCallRow(sql, { id: 'req_1', ...ann, keyId, ...at(35) });
      expect(await use.recent(of(keyId), daysAgo(0.1))).toMatchObject({ callsInDay: 0, lastAt: expect.any(Date) });
      const last = at(0.05);
      await aCallRow(sql, { id: 'req_2', ...ann, keyId, ...at(0.5) });
      await aCallRow(sql, { id: 'req_3', ...ann, keyId, ...last, status: 'refused' });
      await expect(use.recent(of(keyId), daysAgo(0.1))).resolves.toEqual({
        callsSince: 1,
        callsInDay: 2,
        lastAt: new Date(last.createdAt),
      });
      await expect(use.recent(of(keyId, bob), daysAgo(1))).resolves.toMatchObject({ callsSince: 0, lastAt: undefined });
    });

    it('from these addresses for these models, most calls first', async () => {
      const keyId = await aKey();
      const [home, away] = [
        { ...ann, keyId, ip: '192.0.2.1' },
        { ...ann, keyId, ip: '2001:db8::1' },
      ];
      await aCallRow(sql, { id: 'req_0', ...home, ...at(35) });
      await aCallRow(sql, { id: 'req_1', ...home, ...at(3) });
      await aCallRow(sql, { id: 'req_2', ...home, ...at(2), promptTokens: null, cost: 0n, status: 'refused' });
      await aCallRow(sql, { id: 'req_3', ...away, ...at(1), model: 'large' });
      await aCallRow(sql, { id: 'req_4', ...ann, keyId: await aKey(), ...at(1) });
      const use = app.get(KeyUse);
      const rows = await use.byAddress(of(keyId), daysAgo(30), 100);
      expect(rows).toMatchObject([
        { ip: '192.0.2.1', model: 'gpt-5.5', calls: 2, refused: 1, tokens: 140, cost: 1_500_000n },
        { ip: '2001:db8::1', model: 'large', calls: 1, refused: 0, tokens: 120, cost: 1_500_000n },
      ]);
      expect(rows[0]!.lastAt.getTime() - rows[0]!.firstAt.getTime()).toBeCloseTo(DAY_MS, -2);
      await expect(use.byAddress(of(keyId), daysAgo(30), 1)).resolves.toHaveLength(1);
      await expect(use.byAddress(of(keyId, bob), daysAgo(30), 100)).resolves.toEqual([]);
    });
  });
});
