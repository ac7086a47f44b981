import { DataSource } from 'typeorm';
import { PASSWORD, useAccountPages } from '../support/account-pages.js';
import { onceOf } from '../support/operator-visit.js';
import type { PageResponse, PageVisitor } from '../support/page-visitor.js';

describe('the pages of organizations', () => {
  const world = useAccountPages();
  let owner: PageVisitor;

  const query = <Row>(sql: string, values: unknown[] = []): Promise<Row[]> =>
    world.relay.get(DataSource).query(sql, values);
  const create = async (browser: PageVisitor, name: string): Promise<PageResponse> => {
    const { text } = await browser.get('/organizations');
    return browser.post('/organizations', { name, _once: onceOf(text) });
  };
  const invite = (email: string, role = 'member', team = ''): Promise<PageResponse> =>
    owner.submit('/organization/members/invite', { email, role, team });
  const linkTo = async (email: string): Promise<string> => {
    const { message } = await world.mailbox.latestTo(email);
    return /\/join\?t=[\w-]{43}/.exec(message.text ?? '')?.[0] ?? '';
  };
  /** Somebody new who was invited, and joined by the mailed link. */
  const join = async (role = 'member'): Promise<{ browser: PageVisitor; email: string; id: string }> => {
    const email = await world.account();
    expect((await invite(email, role)).location).toBe('/organization/members');
    const browser = await world.signedIn(email);
    const { text } = await browser.get(await linkTo(email));
    const [, accept = ''] = /action="(\/organizations\/invitations\/[^"]+\/accept)"/.exec(text) ?? [];
    expect((await browser.post(accept)).location).toBe('/organization');
    const [member] = await query<{ id: string }>(
      `SELECT m.id FROM members m JOIN accounts a ON a.id = m.account_id WHERE a.email = $1`,
      [email],
    );
    return { browser, email, id: member!.id };
  };

  beforeEach(async () => {
    owner = await world.signedIn(await world.account());
    expect((await create(owner, 'Acme & Co')).location).toBe('/organization');
  });

  it('create an organization once, and work in it at once', async () => {
    const other = await world.signedIn(await world.account());
    expect((await other.get('/organization')).location).toBe('/organizations');
    const { text } = await other.get('/organizations');
    const form = { name: 'Twice', _once: onceOf(text) };
    expect((await other.post('/organizations', form)).location).toBe('/organization');
    const page = await other.get('/organization');
    expect(page).toMatchObject({ status: 200 });
    expect(page.text).toContain('<h1>Twice</h1>');
    await other.post('/organizations', form);
    await expect(query(`SELECT 1 FROM accounts WHERE name = 'Twice'`)).resolves.toHaveLength(1);
    const empty = await create(other, ' ');
    expect(empty.status).toBe(422);
    expect(empty.text).toContain('Enter a name of 1 to 100 characters.');
  });

  it('show a mailed invitation to anyone, and let the invited account accept it', async () => {
    const email = 'new@example.com';
    await invite(email, 'billing');
    const link = await linkTo(email);
    const stranger = world.visitor();
    const page = await stranger.get(link);
    expect(page.text).toContain('<h1>Join Acme &amp; Co</h1>');
    expect(page.text.replaceAll('&#x3D;', '=')).toContain(`href="/sign-in?next=${encodeURIComponent(link)}"`);
    const wrong = await world.signedIn(await world.account());
    expect((await wrong.get(link)).text).toContain('Sign out, then open the link again');
    expect((await stranger.get(`/join?t=${'x'.repeat(43)}`)).status).toBe(404);
    // Signing in leads back to the invitation.
    await world.account(true, email);
    const signedIn = await stranger.submit(
      `/sign-in?next=${encodeURIComponent(link)}`,
      { email, password: PASSWORD, next: link },
      '/sign-in',
    );
    expect(signedIn.location).toBe(link);
    expect((await stranger.get('/')).text).toContain('You are invited to Acme &amp; Co');
    const { text } = await stranger.get('/organizations');
    const [, decline = ''] = /action="([^"]+\/decline)"/.exec(text) ?? [];
    expect((await stranger.post(decline)).location).toBe('/organizations');
    expect((await stranger.get(link)).status).toBe(404);
  });

  it('change budgets, role and team of a member, and say what is not possible', async () => {
    const { browser, id } = await join();
    const page = `/organization/members/${id}`;
    const { text } = await owner.get(page);
    const [, version = ''] = /name="version" value="(\d+)"/.exec(text) ?? [];
    const limits = { daily: '2', weekly: '', monthly: '1,000.5', lifetime: '', maxKeys: '3', version };
    expect((await owner.post(`${page}/limits`, limits)).location).toBe(page);
    const own = await browser.get('/organization');
    expect(own.text).toContain('$1,000.50');
    expect(own.text).toMatch(/of at most\s+3/);
    const stale = await owner.submit(page, { ...limits, daily: '1' }, `${page}/limits`);
    expect(stale.status).toBe(409);
    const wrong = await owner.submit(page, { ...limits, daily: 'many' }, `${page}/limits`);
    expect(wrong.text).toContain('Enter an amount in dollars');
    expect((await owner.submit(page, { role: 'viewer', team: '' }, `${page}/role`)).location).toBe(page);
    expect((await browser.get('/organization/members')).status).toBe(200);
    const audit = await query<{ line: string }>(
      `SELECT action || ' ' || object_kind || ' ' || array_to_string(lines, ', ') AS line FROM audit_entries WHERE object_id = $1 ORDER BY id`,
      [id],
    );
    expect(audit.map(({ line }) => line)).toEqual([
      'joined member role member',
      'changed member daily budget none → $2, monthly budget none → $1000.5, max keys unlimited → 3',
      'changed member role member → viewer',
    ]);
  });

  it('create, change and delete teams', async () => {
    const { text } = await owner.get('/organization/teams/new');
    const empty = { daily: '', weekly: '', monthly: '', lifetime: '', networks: '' };
    const made = await owner.post('/organization/teams/new', {
      ...empty,
      name: 'Research',
      daily: '5',
      _once: onceOf(text),
    });
    expect(made.location).toMatch(/^\/organization\/teams\/team_/);
    const { id } = await join();
    const teamId = made.location.split('/').at(-1) ?? '';
    await owner.submit(
      `/organization/members/${id}`,
      { role: 'member', team: teamId },
      `/organization/members/${id}/role`,
    );
    const changed = await owner.submit(made.location, {
      ...empty,
      name: 'Research',
      networks: 'nowhere',
      version: '2',
    });
    expect(changed.text).toContain('“nowhere” is not a network.');
    expect((await owner.get('/organization/teams')).text).toContain('$5.00');
    expect((await owner.submit(`${made.location}/delete`, { confirm: '' })).status).toBe(422);
    expect((await owner.submit(`${made.location}/delete`, { confirm: 'Research' })).location).toBe(
      '/organization/teams',
    );
    expect((await owner.get(made.location)).status).toBe(404);
    expect((await owner.get(`/organization/members/${id}`)).text).toContain('<dd>None</dd>');
  });

  it('show each role only what it may see, and refuse the rest', async () => {
    const { browser: member, id } = await join('member');
    const { browser: viewer } = await join('viewer');
    expect((await member.get('/organization')).text).toContain('Your budgets');
    for (const path of ['/organization/members', `/organization/members/${id}`, '/organization/teams'])
      expect({ path, status: (await member.get(path)).status }).toEqual({ path, status: 403 });
    const overview = await viewer.get('/organization/members');
    expect(overview.status).toBe(200);
    expect(overview.text).not.toContain('Invite member');
    for (const path of ['invite', `${id}/limits`, `${id}/role`, `${id}/remove`]) {
      const refused = await viewer.submit('/organization/settings', {}, `/organization/members/${path}`);
      expect({ path, status: refused.status }).toEqual({ path, status: 403 });
    }
    expect(
      (await viewer.submit('/organization/settings', { name: 'Mine' }, '/organization/settings/name')).status,
    ).toBe(403);
  });

  it('find nothing of another organization', async () => {
    const { id } = await join();
    const other = await world.signedIn(await world.account());
    await create(other, 'Other');
    expect((await other.get(`/organization/members/${id}`)).status).toBe(404);
    const removed = await other.submit(
      '/organization/settings',
      { keys: 'disable' },
      `/organization/members/${id}/remove`,
    );
    expect(removed.status).toBe(404);
    expect((await owner.get(`/organization/members/${id}`)).status).toBe(200);
  });

  it('remove a member, who is back in their own account, and let others leave', async () => {
    const { browser, email, id } = await join();
    expect((await owner.submit(`/organization/members/${id}/remove`, { keys: 'disable' })).location).toBe(
      '/organization/members',
    );
    expect((await browser.get('/organization')).location).toBe('/organizations');
    // The first page after it says who was removed.
    expect((await owner.get('/organization/members')).text).toContain(`${email} removed`);
    expect((await owner.get('/organization/members')).text).not.toContain(email);
    const { browser: leaver } = await join();
    expect((await leaver.submit('/organization/settings', {}, '/organization/settings/leave')).location).toBe(
      '/organizations',
    );
    expect((await leaver.get('/organizations')).text).not.toContain('Acme');
  });

  it('transfer the ownership once it is accepted, and delete by name', async () => {
    const { browser, id } = await join('admin');
    await owner.submit('/organization/settings', { member: id }, '/organization/settings/transfer');
    expect((await browser.get('/organization/settings')).text).toContain('The ownership is offered to you');
    await browser.submit('/organization/settings', {}, '/organization/settings/transfer/accept');
    expect((await owner.get('/organization/settings')).text).not.toContain('Delete organization');
    const wrong = await browser.submit('/organization/settings', { confirm: 'Acme' }, '/organization/settings/delete');
    expect(wrong.status).toBe(422);
    const deleted = await browser.submit(
      '/organization/settings',
      { confirm: 'Acme & Co' },
      '/organization/settings/delete',
    );
    expect(deleted.location).toBe('/organizations');
    expect((await owner.get('/organization')).location).toBe('/organizations');
  });

  it('ask for the password before a transfer when the sign-in is not recent', async () => {
    const { id } = await join();
    await query(`UPDATE sessions SET confirmed_at = confirmed_at - interval '1 hour'`);
    const asked = await owner.submit('/organization/settings', { member: id }, '/organization/settings/transfer');
    expect(asked.text).toContain('Confirm your password');
    await expect(query('SELECT 1 FROM organizations WHERE offered_to = $1', [id])).resolves.toEqual([]);
  });
});
