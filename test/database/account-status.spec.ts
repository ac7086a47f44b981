import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { actingAs, COMMAND_LINE } from '../../src/platform/audit/index.js';
import { AccountGone, AccountService, AccountStatus, AuthModule, LastAdministrator } from '../../src/auth/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

describe('the standing of accounts', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let standing: AccountStatus;
  let [ann, bob] = ['', ''];

  const account = async (name: string, role: 'admin' | 'user'): Promise<string> =>
    (await app.get(Onboarding).createAccount({ email: `${name}@example.com`, name, role })).id;
  const administrators = async (): Promise<readonly string[]> =>
    (await app.get(AccountService).list())
      .filter(({ role, state }) => role === 'admin' && state === 'enabled')
      .map(({ id }) => id);
  const remove = (id: string): Promise<void> => standing.delete(id, () => Promise.resolve());

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [AuthModule, OnboardingModule]);
    standing = app.get(AccountStatus);
    ann = await account('ann', 'admin');
    bob = await account('bob', 'admin');
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const WAYS: readonly [string, (id: string) => Promise<void>][] = [
    ['demoted', (id) => standing.setRole(id, 'user')],
    ['suspended', (id) => standing.disable(id)],
    ['deleted', (id) => remove(id)],
  ];

  it.each(WAYS)('of the last administrator stays: it is not %s', async (_way, change) => {
    await change(bob);
    await expect(change(ann)).rejects.toThrow(LastAdministrator);
    expect(await administrators()).toEqual([ann]);
  });

  it.each(WAYS)('of one administrator stays when two are %s by each other at once', async (_way, change) => {
    const results = await Promise.allSettled([change(ann), change(bob)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await administrators()).toHaveLength(1);
  });

  it('counts no administrator who is suspended', async () => {
    await standing.disable(bob);
    await expect(standing.setRole(ann, 'user')).rejects.toThrow(LastAdministrator);
    await standing.setRole(bob, 'user');
    await standing.enable(bob);
    expect(await administrators()).toEqual([ann]);
  });

  it('is raised and taken back, and recorded with what it was before', async () => {
    const eve = await account('eve', 'user');
    await actingAs(COMMAND_LINE, async () => {
      await standing.setRole(eve, 'admin');
      await standing.setRole(eve, 'admin');
      await standing.setRole(eve, 'user');
      await standing.disable(eve);
      await standing.enable(eve);
    });
    const entries = await app
      .get(DataSource)
      .query('SELECT action, object_name, lines FROM audit_entries WHERE object_id = $1 ORDER BY id', [eve]);
    const of = (action: string, ...lines: string[]) => ({ action, object_name: 'eve@example.com', lines });
    expect(entries).toEqual([
      of('changed', 'role user → administrator'),
      of('changed', 'role administrator → user'),
      of('suspended'),
      of('enabled'),
    ]);
  });

  it('of a deleted account is final: personal data is removed, its address is free, it cannot be enabled', async () => {
    const eve = await account('eve', 'user');
    await remove(eve);
    await expect(app.get(AccountService).byId(eve)).resolves.toMatchObject({
      email: `${eve}@deleted.invalid`,
      name: '',
      state: 'deleted',
    });
    const rows = await app
      .get(DataSource)
      .query(`SELECT 1 FROM accounts a WHERE a::text LIKE '%example.com%' AND id = $1`, [eve]);
    expect(rows).toEqual([]);
    await expect(standing.enable(eve)).rejects.toThrow(AccountGone);
    await expect(standing.setRole(eve, 'admin')).rejects.toThrow(AccountGone);
    await expect(remove(eve)).rejects.toThrow(AccountGone);
    await expect(account('eve', 'user')).resolves.not.toBe(eve);
  });
});
