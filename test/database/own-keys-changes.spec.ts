import type { TestingModule } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { Offer } from '../../src/catalog/index.js';
import {
  ApiKeyService,
  BudgetNotPossible,
  GroupNotOffered,
  KeyChangedMeanwhile,
  KeyDirectory,
  KeyIsDeleted,
  KeyNotFound,
  type KeySettings,
  ModelNotOffered,
  type OwnKeys,
  QuotaNotPossible,
} from '../../src/keys/index.js';
import { actingAs } from '../../src/platform/audit/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { eventually } from '../support/eventually.js';
import { daysAgo, type Person, useOwnKeys } from '../support/own-keys-world.js';

describe("an account's own keys", () => {
  const world = useOwnKeys();
  const { aKey, of } = world;
  let ann: Person;
  let bob: Person;
  let app: TestingModule;
  let keys: OwnKeys;
  let sql: DataSource;
  beforeEach(() => {
    ({ app, keys, sql, ann, bob } = world);
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

    it('so that every process reads them again', async () => {
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
        `INSERT INTO budgets (holder_id, period, period_start, used, "limit")
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

    it('several at once, with an audit entry for each key when an administrator acts', async () => {
      const [one, other] = [await aKey({ quota: parseUsd('5'), limits: { concurrency: 4 } }), await aKey()];
      const actor = { kind: 'account', accountId: 'acc_1', name: 'admin@example.com', ip: '' } as const;
      const budgets = { daily: parseUsd('1') };
      const change = { groupName: 'saver', quota: null, budgets, limits: { requestsPerMinute: 60 } };
      await actingAs(actor, () => keys.changeAll(ann, [one, other], change));
      const changed = [await keys.get(of(one)), await keys.get(of(other))];
      for (const key of changed) expect(key).toMatchObject({ name: 'key', groupName: 'saver', quota: undefined });
      expect(changed.map(({ limits }) => limits)).toEqual([
        { requestsPerMinute: 60, concurrency: 4 },
        { requestsPerMinute: 60 },
      ]);
      expect(changed.map((key) => key.budgets.daily?.limit)).toEqual([parseUsd('1'), parseUsd('1')]);
      await keys.changeAll(ann, [one, other], { groupName: null, state: 'disabled' });
      expect(await keys.get(of(one))).toMatchObject({ groupName: undefined, state: 'disabled' });
      const entries = await sql.query<{ object_id: string; lines: string[] }[]>('SELECT * FROM audit_entries');
      expect(entries.map(({ object_id }) => object_id).toSorted()).toEqual([one, other].toSorted());
      expect(entries.find(({ object_id }) => object_id === one)?.lines).toContain('quota $5 → none');
    });

    it('several at once or none, naming the key that prevents it', async () => {
      const names = ['one', 'used', 'small only'];
      const ids = await Promise.all(
        names.map((name) => aKey({ name, ...(name === 'small only' && { models: ['small'] }) })),
      );
      const [one = '', used = '', smallOnly = ''] = ids;
      await sql.query('UPDATE api_keys SET used = 1500000000 WHERE id = $1', [used]);
      const lower = keys.changeAll(ann, ids, { quota: parseUsd('1'), limits: { concurrency: 2 } });
      await expect(lower).rejects.toThrow('“used”: A quota of $1 is not possible');
      const move = keys.changeAll(ann, ids, { groupName: 'saver' });
      await expect(move).rejects.toThrow('“small only” allows small, which is not available in the group “saver”.');
      await expect(keys.changeAll(ann, ids, { groupName: 'secret' })).rejects.toThrow(GroupNotOffered);
      const theirs = await aKey({}, bob);
      await expect(keys.changeAll(ann, [one, theirs], { state: 'disabled' })).rejects.toThrow(KeyNotFound);
      for (const id of ids)
        expect(await keys.get(of(id))).toMatchObject({ state: 'enabled', version: 1, group: 'default', limits: {} });
      await keys.delete(of(smallOnly));
      await expect(keys.changeAll(ann, ids, { state: 'disabled' })).rejects.toThrow('“small only”: The key');
      expect(await keys.get(of(one))).toMatchObject({ state: 'enabled' });
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

    it('by their owner only: for others they do not exist', async () => {
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
        'Deselect small: it is not available in the group “saver”.',
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
});
