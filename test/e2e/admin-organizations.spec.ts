import { DataSource } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import {
  MembersReader,
  MemberWriter,
  OrganizationDirectory,
  Organizations,
  Teams,
} from '../../src/keys/organizations/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { LedgerCheck, WalletService } from '../../src/wallet/index.js';
import { onceOf, type OperatorVisit, operatorVisit } from '../support/operator-visit.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const BUDGETS = { lifetime: undefined, daily: parseUsd('5'), weekly: undefined, monthly: undefined };

describe('organizations in the admin console', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;
  let ann: TestCaller;
  let bob: TestCaller;
  let id: string;
  let there: string;

  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = await operatorVisit(relay);
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    [ann, bob] = [await relay.caller(), await relay.caller()];
    const credit = { amount: parseUsd('5'), reason: 'test' };
    ({ id } = await relay.get(Organizations).open({ ownerId: ann.accountId, name: 'Acme & Sons', credit }));
    there = `/admin/organizations/${id}`;
  });

  const page = async (path = there): Promise<string> => (await operator.browser.get(path)).text;
  const members = () => relay.get(MembersReader).all(id);
  const addBob = () =>
    relay
      .get(MemberWriter)
      .add({ organizationId: id, accountId: bob.accountId, email: bob.email, role: 'member', teamId: undefined }, {});
  const changes = () =>
    relay.get(DataSource).query<Record<'actor' | 'action' | 'kind', string>[]>(
      `SELECT actor_name AS actor, action, object_kind AS kind FROM audit_entries
          WHERE actor_kind = 'account' AND (object_id = $1 OR object_owner = $1) ORDER BY id`,
      [id],
    );

  it('are listed with owner, members and balance, and found by name, owner and search', async () => {
    for (const text of ['acme', ann.email, id]) {
      const list = await page(`/admin/organizations?q=${encodeURIComponent(text)}`);
      expect(list).toContain(`href="${there}">Acme &amp; Sons</a>`);
      expect(list).toContain(ann.email);
      expect(list).toContain('$5.00');
    }
    expect(await page('/admin/organizations?q=nothing-like-it')).toContain('No organizations match these filters');
    expect(await page('/search?q=acme')).toContain(`href="${there}"`);
    expect(await page(`/admin/users?q=${id}`)).not.toContain('Acme');
    const user = await signedIn(relay, ann.accountId);
    expect((await user.get(there)).status).toBe(404);
    expect((await user.get('/search?q=acme')).text).not.toContain('/admin/organizations');
  });

  it('are created once, with an owner and credit', async () => {
    const _once = onceOf(await page('/admin/organizations/new'));
    const fields = { name: 'Bolt', owner: bob.email.toUpperCase(), credit: '7', _once };
    const missing = await operator.browser.post('/admin/organizations/new', { ...fields, owner: 'no@example.com' });
    expect(missing).toMatchObject({ status: 422, text: expect.stringContaining('Enter the email address of a user.') });
    const created = await operator.browser.post('/admin/organizations/new', fields);
    const again = await operator.browser.post('/admin/organizations/new', fields);
    expect(again.location).toBe(created.location);
    const made = await relay.get(OrganizationDirectory).find(created.location.split('/').at(-1) ?? '');
    expect(made).toMatchObject({ name: 'Bolt', balance: parseUsd('7'), owner: { id: bob.accountId }, members: 1 });
  });

  it('show members, teams and keys, and change and remove members', async () => {
    const team = { name: 'Research', models: ['m'], groups: undefined, networks: undefined, budgets: BUDGETS };
    const teamId = await relay.get(Teams).create({ id, memberId: undefined }, team);
    const form = `${there}/members/add`;
    const unknown = await operator.browser.post(form, { email: 'no@example.com', role: 'member', team: '' });
    expect(unknown).toMatchObject({ status: 422 });
    await operator.browser.post(form, { email: bob.email, role: 'billing', team: teamId });
    const [, added] = await members();
    expect(added).toMatchObject({ email: bob.email, role: 'billing', team: { name: 'Research' } });
    const shown = await page();
    for (const text of [bob.email, 'Billing', 'Research', '1 model']) expect(shown).toContain(text);
    const path = `${there}/members/${added!.id}`;
    expect(await page(path)).toContain('Role and team');
    await operator.browser.post(`${path}/role`, { role: 'viewer', team: '' });
    await expect(members()).resolves.toMatchObject([{}, { role: 'viewer', team: undefined }]);
    await operator.browser.post(`${path}/remove`, { keys: 'disable' });
    await expect(members()).resolves.toHaveLength(1);
    const who = { actor: operator.email, kind: 'member' };
    expect((await changes()).filter(({ kind }) => kind === 'member')).toEqual(
      ['added', 'changed', 'removed'].map((action) => ({ ...who, action })),
    );
  });

  it('have the wallet and key pages of users', async () => {
    const { id: key } = await relay.get(ApiKeyService).create({ accountId: id, name: 'robot', quota: parseUsd('1') });
    const adjust = {
      direction: 'add',
      amount: '2',
      reason: 'invoice 7',
      _once: onceOf(await page(`${there}/balance`)),
    };
    const review = await operator.browser.post(`${there}/balance`, adjust);
    expect(review.text).toContain('Acme &amp; Sons');
    const reviewed = String(parseUsd('2'));
    const done = await operator.browser.post(`${there}/balance`, { ...adjust, reviewed });
    expect(done.location).toBe(there);
    expect((await relay.get(WalletService).balanceOf(id)).balance).toBe(parseUsd('7'));
    await operator.browser.post(`${there}/allowance`, { amount: '3' });
    expect(await page()).toContain('$3.00 monthly allowance');
    expect((await operator.browser.post(`${there}/keys/${key}/disable`)).location).toBe(`${there}#keys`);
    expect(await page(`${there}/keys/${key}`)).toContain('robot');
    expect((await changes()).map(({ action, kind }) => `${action} ${kind}`)).toEqual([
      'credited organization',
      'changed organization',
      'disabled key',
    ]);
  });

  it('are limited, suspended, reinstated and deleted', async () => {
    const revision = /name="revision" value="([^"]+)"/.exec(await page())?.[1] ?? '';
    const terms = { group: 'default', callsPerMinute: '60', tokensPerMinute: '', concurrency: '', revision };
    expect((await operator.browser.post(`${there}/settings`, terms)).location).toBe(there);
    expect((await operator.browser.post(`${there}/settings`, { ...terms, callsPerMinute: '5' })).status).toBe(409);
    await operator.browser.post(`${there}/suspend`);
    expect(await page()).toContain('This organization is suspended');
    await operator.browser.post(`${there}/enable`);
    await addBob();
    const wrong = await operator.browser.post(`${there}/delete`, { confirm: 'Acme' });
    expect(wrong).toMatchObject({ status: 422 });
    const deleted = await operator.browser.post(`${there}/delete`, { confirm: 'Acme & Sons' });
    expect(deleted.location).toBe('/admin/organizations');
    expect(await page()).toContain('This organization was deleted');
    await expect(relay.get(OrganizationDirectory).find(id)).resolves.toMatchObject({ state: 'deleted', members: 0 });
    await expect(relay.get(LedgerCheck).run()).resolves.toMatchObject({ exact: true });
  });

  it('keep their owner’s account until they are handed over or deleted', async () => {
    const form = `/admin/users/${ann.accountId}/delete`;
    const refused = await operator.browser.post(form, { confirm: ann.email });
    expect(refused).toMatchObject({
      status: 422,
      text: expect.stringContaining('This account owns “Acme &amp; Sons”'),
    });
    await relay.get(Organizations).delete({ id, memberId: undefined });
    expect((await operator.browser.post(form, { confirm: ann.email })).location).toBe('/admin/users');
    expect((await operator.browser.get(`/admin/users/${id}`)).location).toBe(there);
  });
});
