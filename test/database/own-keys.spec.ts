import type { TestingModule } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { ApiKeyService, type KeyCondition, type KeyFilter, type KeyPage, type OwnKeys } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { KeyUse } from '../../src/usage/index.js';
import { aCallRow } from '../support/call-rows.js';
import { DAY_MS, daysAgo, type Person, useOwnKeys } from '../support/own-keys-world.js';

describe("an account's own keys", () => {
  const world = useOwnKeys();
  const { aKey, of } = world;
  let app: TestingModule;
  let keys: OwnKeys;
  let sql: DataSource;
  let ann: Person;
  let bob: Person;
  beforeEach(() => {
    ({ app, keys, sql, ann, bob } = world);
  });

  const ownerOf = ({ accountId }: Person): { accountId: string } => ({ accountId });
  const names = async (filter: KeyFilter = {}, person = ann): Promise<readonly string[]> =>
    (await keys.page(ownerOf(person), filter)).keys.map(({ name }) => name);

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
      const page = await keys.page(ownerOf(bob), {});
      expect(page.keys.map(({ group, groupName }) => [group, groupName])).toEqual([
        ['saver', undefined],
        ['default', 'default'],
      ]);
      await expect(names({ group: 'saver' }, bob)).resolves.toEqual(['of account']);
      await expect(keys.groupsInUse(ownerOf(bob))).resolves.toEqual(['default', 'saver']);
      await expect(keys.groupsInUse(ownerOf(ann))).resolves.toEqual([]);
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
        keys.page(ownerOf(ann), {}, position);
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
      const used = new Map((await keys.page(ownerOf(ann), {})).keys.map(({ id, lastUsedAt }) => [id, lastUsedAt]));
      expect([used.get(never), used.get(finished), used.get(running)]).toEqual([undefined, recent, now]);
    });
  });

  describe('are in a condition', () => {
    const conditions = async (id: string): Promise<readonly KeyCondition[]> => (await keys.get(of(id))).conditions;
    const use = (id: string, used: string): Promise<unknown> =>
      sql.query('UPDATE api_keys SET used = $2 WHERE id = $1', [id, parseUsd(used)]);
    const useBudget = (id: string, period: string, used: string, ago = 0): Promise<unknown> =>
      sql.query(
        `INSERT INTO budgets (holder_id, period, period_start, used, "limit")
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
      const month = { from: daysAgo(30), to: new Date() };
      const rows = await use.byAddress(of(keyId), month, 100);
      expect(rows).toMatchObject([
        { ip: '192.0.2.1', model: 'gpt-5.5', calls: 2, refused: 1, tokens: 140, cost: 1_500_000n },
        { ip: '2001:db8::1', model: 'large', calls: 1, refused: 0, tokens: 120, cost: 1_500_000n },
      ]);
      expect(rows[0]!.lastAt.getTime() - rows[0]!.firstAt.getTime()).toBeCloseTo(DAY_MS, -2);
      await expect(use.byAddress(of(keyId), month, 1)).resolves.toHaveLength(1);
      await expect(use.byAddress(of(keyId, bob), month, 100)).resolves.toEqual([]);
    });
  });
});
