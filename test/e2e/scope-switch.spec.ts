import { DataSource } from 'typeorm';
import { aMember, anOrganization, join, leave, switchTo, type TestMember } from '../support/organizations.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

let relay: RelayApp;
let acme: string;
let ann: TestMember;

beforeAll(async () => {
  relay = await RelayApp.start();
});
afterAll(() => relay.close());
beforeEach(async () => {
  acme = await anOrganization(relay, 'Acme <Research>', '42.42');
  ann = await aMember(relay, acme, 'admin', 'Ann');
});

/** What the switch of a page offers, the current choice with an asterisk. */
const choicesOn = (text: string): string[] =>
  [
    ...(/<form class="scopes__list"[^]*?<\/form>/.exec(text)?.[0] ?? '').matchAll(/<button[^>]*>[^]*?<b[^>]*>([^<]*)/g),
  ].map(([button, name = '']) => `${button.includes('aria-current="true"') ? '*' : ''}${name}`);
const query = (sql: string, ...values: unknown[]): Promise<unknown> => relay.get(DataSource).query(sql, values);
const homeOf = async (browser: PageVisitor): Promise<string> => (await browser.get('/')).text;

describe('the scope switch', () => {
  it('is not shown when the user has no organization', async () => {
    const { accountId } = await relay.caller();
    const page = await (await signedIn(relay, accountId)).get('/account');
    expect(page.text).not.toContain('scopes');
    expect(page.text).not.toContain('_scope');
  });

  it('offers the personal account and each organization by name, and marks the current one', async () => {
    const other = await anOrganization(relay, 'Zebra Works');
    await join(relay, other, ann.accountId, 'viewer');
    expect(choicesOn(await homeOf(ann.browser))).toEqual(['Personal account', '*Acme &lt;Research&gt;', 'Zebra Works']);
    await switchTo(ann.browser, '');
    expect(choicesOn(await homeOf(ann.browser))).toEqual(['*Personal account', 'Acme &lt;Research&gt;', 'Zebra Works']);
  });

  it('refuses organizations that the user does not belong to, and that are disabled', async () => {
    const other = await anOrganization(relay, 'Zebra Works');
    for (const organization of [other, ann.accountId, 'org_unknown'])
      expect((await ann.browser.submit('/account', { organization }, '/scope')).status).toBe(404);
    await join(relay, other, ann.accountId, 'member');
    await query(`UPDATE accounts SET state = 'disabled' WHERE id = $1`, other);
    expect((await ann.browser.submit('/account', { organization: other }, '/scope')).status).toBe(404);
    expect(choicesOn(await homeOf(ann.browser))).toEqual(['Personal account', '*Acme &lt;Research&gt;']);
  });

  it('requires the form token, and one choice', async () => {
    const fields = { organization: acme };
    expect((await ann.browser.post('/scope', { ...fields, _csrf: 'of another site' })).status).toBe(403);
    expect((await ann.browser.submit('/account', { organization: [acme, ''] }, '/scope')).status).toBe(400);
  });

  it('leads one session only, and a new sign-in starts in the personal account', async () => {
    const elsewhere = await signedIn(relay, ann.accountId);
    expect(choicesOn(await homeOf(elsewhere))).toEqual(['*Personal account', 'Acme &lt;Research&gt;']);
    expect(choicesOn(await homeOf(ann.browser))).toEqual(['Personal account', '*Acme &lt;Research&gt;']);
  });
});

describe('a form that was opened before a switch in another tab', () => {
  const NEW_KEY = { name: 'stale', group: 'default', _once: 'a'.repeat(22) };
  const keys = (): Promise<unknown> => query(`SELECT name FROM api_keys WHERE name = 'stale'`);

  it.each([
    ['an organization', ''],
    ['the personal account', 'organization'],
  ])('of %s is refused with the reason, and nothing happens', async (_, after) => {
    await switchTo(ann.browser, after === '' ? acme : '');
    await ann.browser.get('/keys/new');
    const { csrf: _csrf, scope: _scope } = ann.browser;
    await switchTo(ann.browser, after === '' ? '' : acme);
    const refused = await ann.browser.post('/keys/new', { ...NEW_KEY, _csrf, _scope });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('This page was opened in another account, and you have switched since.');
    expect(await keys()).toEqual([]);
  });

  it('works where the scope does not matter: theme, profile, sign-out', async () => {
    await ann.browser.get('/account');
    const { csrf: _csrf, scope: _scope } = ann.browser;
    await switchTo(ann.browser, '');
    const fields = { _csrf, _scope };
    expect((await ann.browser.post('/theme', { ...fields, theme: 'dark', back: '/account' })).location).toBe(
      '/account',
    );
    expect((await ann.browser.post('/account/profile', { ...fields, name: 'Anne', timeZone: 'UTC' })).status).toBe(303);
    expect((await ann.browser.post('/sign-out', fields)).status).toBe(303);
  });
});

describe('a lost membership', () => {
  const LOST = 'You no longer have access to the organization';

  it('takes the user to their own account with the next request, and says so once', async () => {
    expect(await homeOf(ann.browser)).not.toContain(LOST);
    await leave(relay, ann.memberId);
    const page = await homeOf(ann.browser);
    expect(page).toContain(LOST);
    expect(page).not.toContain('Acme');
    expect(await homeOf(ann.browser)).not.toContain(LOST);
  });

  it('says so on the next page when the first request is no page', async () => {
    await leave(relay, ann.memberId);
    const csv = await ann.browser.get('/wallet/top-ups.csv');
    expect(csv.text).not.toContain('opening credit of Acme');
    expect(await homeOf(ann.browser)).toContain(LOST);
    expect(await homeOf(ann.browser)).not.toContain(LOST);
  });

  it('refuses forms that were opened before', async () => {
    await ann.browser.get('/keys/new');
    await leave(relay, ann.memberId);
    const refused = await ann.browser.post('/keys/new', { name: 'late', group: 'default', _once: 'b'.repeat(22) });
    expect(refused.status).toBe(409);
    expect(await query(`SELECT name FROM api_keys WHERE name = 'late'`)).toEqual([]);
  });

  it('is the same when an administrator disables the organization, and back when the member returns', async () => {
    await query(`UPDATE accounts SET state = 'disabled' WHERE id = $1`, acme);
    expect(await homeOf(ann.browser)).toContain(LOST);
    await query(`UPDATE accounts SET state = 'enabled' WHERE id = $1`, acme);
    await switchTo(ann.browser, acme);
    expect(choicesOn(await homeOf(ann.browser))).toContain('*Acme &lt;Research&gt;');
  });

  it('and a changed role are effective with the next request', async () => {
    expect((await ann.browser.get('/wallet')).status).toBe(200);
    await query(`UPDATE members SET role = 'member' WHERE id = $1`, ann.memberId);
    const refused = await ann.browser.get('/wallet');
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('Your role in Acme &lt;Research&gt; (member) does not allow this.');
  });
});
