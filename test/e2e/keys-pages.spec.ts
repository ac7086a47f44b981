import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ApiKeyService, OwnKeys } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { aCallRow } from '../support/call-rows.js';
import { EMPTY, fieldsOf, hidden, type Person, secretOn, useKeyPages } from '../support/key-pages.js';
import { PageVisitor, type PageResponse } from '../support/page-visitor.js';
import type { RelayApp, StoredCall } from '../support/relay-app.js';

/** What a key has that is made in the place of one that has leaked. */
const LEAKY = {
  quota: parseUsd('3'),
  models: ['fee'],
  groupName: 'default',
  expiresAt: new Date('2031-01-01T00:00:00Z'),
  limits: { concurrency: 3 },
  networks: ['127.0.0.1', '::1'],
  neverStores: true,
};

describe('the pages of keys', () => {
  const world = useKeyPages();
  const { someone, newKey, keysOf, named, call, expectSoon } = world;
  let relay: RelayApp;
  let ann: Person;
  beforeEach(() => {
    ({ relay, ann } = world);
  });

  describe('change what the relay does', () => {
    it('names the limit that is used up, and lists all limits', async () => {
      const secret = secretOn(await newKey({ name: 'daily', quota: '5', daily: '0.04' }));
      await expectSoon(secret, 200);
      for (let calls = 0; calls < 10 && (await call(secret)).status === 200; calls += 1);
      const list = (await ann.browser.get('/keys')).text;
      expect(list).toContain('Daily budget used up');
      expect(list).not.toContain('Quota used up');
      expect(list.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')).toMatch(/of \$5\.00 total .* of \$0\.04 today/);
    });

    it('within a second: a quota that is used up names its key, and when it is raised the next call passes', async () => {
      const secret = secretOn(await newKey({ name: 'little', quota: '0.05' }));
      const { id } = await named('little');
      await expectSoon(secret, 200);
      let response = await call(secret);
      for (let calls = 0; response.status === 200 && calls < 10; calls += 1) response = await call(secret);
      expect(response.status).toBe(429);
      expect(response.text).toContain('insufficient quota');
      expect(response.text).toContain('little');
      const refused = await ann.browser.submit(`/keys/${id}/edit`, { quota: '-1' }, `/keys/${id}/raise`);
      expect([refused.status, refused.text.includes('<title>Error: ')]).toEqual([422, true]);
      const raised = await ann.browser.post(`/keys/${id}/raise`, { quota: '1' });
      expect((await ann.browser.follow(raised)).text).toContain('$1.05 total');
      await expectSoon(secret, 200);
    });

    it('within a second: disable, enable, delete; its calls stay in the log', async () => {
      const secret = secretOn(await newKey({ name: 'switched' }));
      const { id } = await named('switched');
      await expectSoon(secret, 200);
      await ann.browser.submit(`/keys/${id}/edit`, {}, `/keys/${id}/disable`);
      await expectSoon(secret, 401, 'Invalid token');
      expect((await ann.browser.get('/keys?state=disabled')).text).toContain('switched');
      await ann.browser.post(`/keys/${id}/enable`);
      await expectSoon(secret, 200);
      const deleted = await ann.browser.post(`/keys/${id}/delete`, { confirm: 'switched' });
      expect((await ann.browser.follow(deleted)).text).toContain('Key “switched” deleted');
      await expectSoon(secret, 401, 'Invalid token');
      const rows = (await relay.calls(ann.caller)) as (StoredCall & { key_id: string })[];
      expect(
        rows.filter(({ key_id, status }) => key_id === id && status === 'succeeded').length,
      ).toBeGreaterThanOrEqual(2);
      expect((await ann.browser.get('/keys')).text).not.toContain(`/keys/${id}/edit`);
      const page = await ann.browser.get(`/keys/${id}/edit`);
      expect([page.status, page.text.includes('This key was deleted')]).toEqual([200, true]);
      expect((await ann.browser.post(`/keys/${id}/enable`)).status).toBe(400);
    });

    it('and delete a key in use only when its name is typed', async () => {
      const { id } = await relay.get(ApiKeyService).create({ accountId: ann.accountId, name: 'in use' });
      const idle = await ann.browser.get(`/keys/${id}/delete`);
      expect(idle.text).toContain('No calls with this key yet');
      expect(idle.text).not.toContain('name="confirm"');
      for (const way of ['edit#off', 'leaked']) expect(idle.text).toContain(`href="/keys/${id}/${way}"`);
      await aCallRow(relay.get(DataSource), {
        id: `req_${randomBytes(4).toString('hex')}`,
        accountId: ann.accountId,
        keyId: id,
      });
      expect((await ann.browser.get(`/keys/${id}/delete`)).text).toContain('1 call today');
      const refused = await ann.browser.post(`/keys/${id}/delete`, { confirm: 'in' });
      expect([refused.status, (await named('in use')).state]).toEqual([422, 'enabled']);
      expect(refused.text).toContain('Enter the key’s name, in use, to delete it.');
      expect((await ann.browser.post(`/keys/${id}/delete`, { confirm: ' in use ' })).status).toBe(303);
      await expect(keysOf()).resolves.toHaveLength(1);
    });
  });

  it('overwrite nothing that was changed meanwhile, show both, and ask again', async () => {
    const { id } = await relay
      .get(ApiKeyService)
      .create({ accountId: ann.accountId, name: 'shared', quota: parseUsd('5') });
    const form = fieldsOf(await ann.browser.get(`/keys/${id}/edit`));
    await ann.browser.post(`/keys/${id}/edit`, { ...form, quota: '7' });
    const networks = '203.0.113.7\r\n2001:db8::1';
    const conflict = await ann.browser.post(`/keys/${id}/edit`, { ...form, name: 'mine', networks });
    expect(conflict.status).toBe(409);
    expect(conflict.text).toContain('Name: now <b>shared</b>, yours <b>mine</b>');
    expect(conflict.text).toContain('Quota: now <b>7</b>, yours <b>5</b>');
    expect(conflict.text).toContain('Allowed networks: now <b>–</b>, yours <b>203.0.113.7, 2001:db8::1</b>');
    expect(await named('shared')).toMatchObject({ quota: parseUsd('7') });
    const saved = await ann.browser.post(`/keys/${id}/edit`, fieldsOf(conflict));
    expect(saved.status).toBe(303);
    expect(await named('mine')).toMatchObject({ quota: parseUsd('5'), networks: ['203.0.113.7', '2001:db8::1'] });
  });

  it('do not take the form of a page that was refused for one of the version that there is', async () => {
    const { id } = await relay.get(ApiKeyService).create({ accountId: ann.accountId, name: 'shared' });
    const form = fieldsOf(await ann.browser.get(`/keys/${id}/edit`));
    await ann.browser.post(`/keys/${id}/edit`, { ...form, quota: '7' });
    const refused = await ann.browser.post(`/keys/${id}/edit`, { ...form, name: '' });
    expect(refused.status).toBe(422);
    expect((await ann.browser.post(`/keys/${id}/edit`, { ...fieldsOf(refused), name: 'mine' })).status).toBe(409);
  });

  it('help with a key that has leaked: disable it, make one like it, see what it was used for', async () => {
    const { id, secret } = await relay.get(ApiKeyService).create({
      accountId: ann.accountId,
      name: 'leaky 2',
      budgets: { weekly: parseUsd('2') },
      ...LEAKY,
    });
    for (const used of [{ ip: '203.0.113.77', model: 'stranger-model' }, { model: '' }]) {
      const row = { id: `req_${randomBytes(4).toString('hex')}`, accountId: ann.accountId, keyId: id, ...used };
      await aCallRow(relay.get(DataSource), row);
    }
    await relay.get(ApiKeyService).create({ accountId: ann.accountId, name: 'leaky 3' });
    const page = await ann.browser.get(`/keys/${id}/leaked`);
    expect(page.text).toContain('value="leaky 4"');
    for (const text of [
      'Disable it first',
      `range=30d&amp;key=${id}`,
      'model unknown',
      '203.0.113.77',
      'stranger-model',
      '>120<',
      'front-end code, a repository or a screenshot',
      'ne key per person and client',
    ])
      expect(page.text).toContain(text);
    const disabled = await ann.browser.follow(await ann.browser.post(`/keys/${id}/leaked`));
    expect(disabled.text).toContain('is disabled');
    expect(disabled.text).not.toContain('Disable it first');
    await expectSoon(secret.reveal(), 401, 'Invalid token');
    const fields = { _once: hidden(disabled, '_once'), name: 'leaky 4' };
    const created = await ann.browser.post(`/keys/${id}/replace`, fields);
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect(created.text).toContain(`/keys/${id}/leaked?made=`);
    expect(created.text).toContain('SWITCHBOARD_API_KEY');
    const like = await named('leaky 4');
    expect(like).toMatchObject({ ...LEAKY, strict: false });
    expect(like.budgets.weekly?.limit).toBe(parseUsd('2'));
    await expectSoon(secretOn(created), 200);
    const replaced = await ann.browser.get(`/keys/${id}/leaked?made=${like.id}`);
    expect(replaced.text).toContain(`Created: <a href="/keys/${like.id}/edit">leaky 4</a>`);
    expect(replaced.text).not.toContain(`/keys/${id}/replace`);
    for (const made of [id, ann.caller.keyId, 'key_nobody', '%00'])
      expect((await ann.browser.get(`/keys/${id}/leaked?made=${made}`)).text).toContain(`/keys/${id}/replace`);
    expect((await ann.browser.post(`/keys/${id}/replace`, fields)).location).toBe(`/keys/${like.id}/edit`);
  });

  it('show and change only one’s own keys: another’s are not there, by any address', async () => {
    const bob = await someone();
    const id = bob.caller.keyId;
    await ann.browser.get('/keys/new');
    const nobody = await ann.browser.get('/keys/key_nobody/edit');
    for (const path of ['edit', 'delete', 'leaked']) {
      const response = await ann.browser.get(`/keys/${id}/${path}`);
      expect(response.status).toBe(404);
      expect(withoutIds(response.text)).toBe(withoutIds(nobody.text));
    }
    const form = { ...EMPTY, name: 'taken', version: '1', confirm: 'test key', quota: '5', _once: 'A'.repeat(22) };
    for (const path of ['edit', 'raise', 'disable', 'enable', 'delete', 'leaked', 'replace'])
      expect([path, (await ann.browser.post(`/keys/${id}/${path}`, form)).status]).toEqual([path, 404]);
    await expect(keysOf(bob)).resolves.toMatchObject([{ name: 'test key', state: 'enabled', version: 1 }]);
    await expect(keysOf()).resolves.toHaveLength(1);
    for (const odd of ['%00', '..%2f..', "'", '%F0%9F%94%91', 'x'.repeat(3000)])
      expect([404, 414]).toContain((await ann.browser.get(`/keys/${odd}/edit`)).status);
  });

  it('show names as they are, and run nothing that stands in them', async () => {
    const name = `<img src=x onerror="alert(1)">'&"</title>`;
    const created = await newKey({ name });
    const { id } = await named(name);
    const pages = await Promise.all(
      ['/keys', `/keys/${id}/edit`, `/keys/${id}/delete`, `/keys/${id}/leaked`].map((path) => ann.browser.get(path)),
    );
    for (const { text } of [created, ...pages]) {
      expect(text).not.toContain('<img');
      expect(text).toContain('&lt;img src');
    }
    const search = await ann.browser.get(
      `/keys?q=${encodeURIComponent('"><script>alert(1)</script>')}&group=${encodeURIComponent('"><b>')}`,
    );
    expect(search.text).not.toMatch(/<script>alert|"><b>/);
  });

  it('narrow the list by name, group and state, and leaf through it', async () => {
    const keys = relay.get(ApiKeyService);
    for (let number = 1; number <= 60; number += 1)
      await keys.create({
        accountId: ann.accountId,
        name: `key ${number}`,
        groupName: number % 2 ? 'saver' : 'default',
      });
    const rows = ({ text }: PageResponse): string[] =>
      [...text.matchAll(/<a class="plain"[^>]*>([^<]*)</g)].map(([, name = '']) => name);
    const link = ({ text }: PageResponse, label: string): string | undefined =>
      new RegExp(`href="([^"]+)" rel="${label}"`).exec(text)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
    const first = await ann.browser.get('/keys');
    expect(rows(first)).toHaveLength(50);
    expect(link(first, 'prev')).toBeUndefined();
    const second = await ann.browser.get(link(first, 'next')!);
    expect(rows(second)).toHaveLength(11);
    expect(rows(await ann.browser.get(link(second, 'prev')!))).toEqual(rows(first));
    const savers = await ann.browser.get('/keys?group=saver&q=KEY%205');
    expect(rows(savers)).toEqual(['key 59', 'key 57', 'key 55', 'key 53', 'key 51', 'key 5']);
    expect(savers.text).toContain('aria-label="Remove filter Group: saver"');
    const none = await ann.browser.get('/keys?state=expired');
    expect(none.text).toContain('No keys match');
    const stale = await ann.browser.get('/keys?before=nonsense');
    expect([rows(stale).length, stale.text.includes('Page no longer available')]).toEqual([50, true]);
    expect((await ann.browser.get('/keys?q=%00&group=%00&q=a&state=nonsense')).status).toBe(200);
  });

  it('find a key by the whole of it, which they neither show nor keep in an address', async () => {
    const keys = relay.get(ApiKeyService);
    const { id, secret } = await keys.create({ accountId: ann.accountId, name: 'pasted' });
    const whole = secret.reveal();
    const found = await ann.browser.get(`/keys?q=%20${whole}%20`);
    expect([found.status, found.location]).toEqual([303, expect.not.stringContaining(whole.slice(7, -4))]);
    const list = await ann.browser.follow(found);
    expect(list.text).toContain(`/keys/${id}/edit`);
    expect(list.text).not.toContain(`/keys/${ann.caller.keyId}/edit`);
    expect(list.text).not.toContain(whole.slice(7, -4));
    const bob = await someone();
    const none = await bob.browser.get(`/keys?q=${whole}`);
    expect([none.status, none.location]).toEqual([303, '/keys']);
    expect((await bob.browser.follow(none)).text).toContain('The pasted key is not one of yours');
  });

  it('say that there is none yet, and how to make the first', async () => {
    const carl = await someone();
    await relay.get(OwnKeys).delete({ accountId: carl.accountId, id: carl.caller.keyId });
    const page = await carl.browser.get('/keys');
    expect(page.text).toContain('Create key');
    expect(page.text).not.toContain('<table');
  });

  it('are for those alone who are signed in', async () => {
    const otherUser = new PageVisitor(relay.url);
    for (const path of ['/keys', '/keys/new', `/keys/${ann.caller.keyId}/edit`]) {
      const response = await otherUser.get(path);
      expect([response.status, response.location]).toEqual([303, `/sign-in?next=${encodeURIComponent(path)}`]);
    }
  });
});

/** Pages of two requests differ in what names the request and the browser. */
const withoutIds = (text: string): string =>
  text
    .replaceAll(/req_[0-9a-f]{32}|key_\w+|(?<="_csrf" value=)"[^"]*"/g, 'ID')
    .replaceAll(/<time[^>]*>[^<]*<\/time>|[?&]?\/?keys\/[^"<]*/g, '');
