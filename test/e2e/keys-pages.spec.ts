import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AccountService, SessionService } from '../../src/auth/index.js';
import { ApiKeyService, type OwnKey, OwnKeys } from '../../src/keys/index.js';
import { parseUsd } from '../../src/shared/index.js';
import { aCallRow } from '../support/call-rows.js';
import { eventually } from '../support/eventually.js';
import { PageVisitor, type Visited } from '../support/page-visitor.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';

/** A call that costs $0.02, whatever it says. */
const CALL = { model: 'fee', messages: [{ role: 'user', content: 'Say hello' }] };
/** How soon the relay must follow a page. */
const FOLLOWS_MS = 1000;

interface Person {
  readonly accountId: string;
  readonly browser: PageVisitor;
  readonly caller: TestCaller;
}

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
  let relay: RelayApp;
  let ann: Person;

  const someone = async (options = {}): Promise<Person> => {
    const caller = await relay.caller(options);
    await relay.get(DataSource).query('UPDATE accounts SET verified_at = now() WHERE id = $1', [caller.accountId]);
    const token = randomBytes(32).toString('base64url');
    await relay.get(SessionService).start(caller.accountId, token, false, { ip: '127.0.0.1', userAgent: 'test' });
    const browser = new PageVisitor(relay.url);
    browser.cookies.set('switchboard-visit', token);
    return { accountId: caller.accountId, browser, caller };
  };
  beforeAll(async () => {
    relay = await RelayApp.start();
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    ann = await someone();
  });

  const hidden = ({ text }: Visited, name: string): string =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? '';
  const secretOn = ({ text }: Visited): string => /sk-[0-9A-Za-z]{48}/.exec(text)?.[0] ?? '';
  /** Fills in the form of a new key as a browser sends it: every field, empty or not. */
  const newKey = async (fields: Record<string, string | string[]>, { browser } = ann): Promise<Visited> => {
    const page = await browser.get('/keys/new');
    return browser.post('/keys/new', { ...EMPTY, _once: hidden(page, '_once'), ...fields });
  };
  const keysOf = async ({ accountId } = ann): Promise<readonly OwnKey[]> =>
    (await relay.get(OwnKeys).page(accountId, {})).keys;
  const named = async (name: string, person = ann): Promise<OwnKey> => {
    const key = (await keysOf(person)).find((one) => one.name === name);
    if (key === undefined) throw new Error(`There is no key ${name}.`);
    return key;
  };
  const call = async (secret: string): Promise<{ status: number; text: string }> => {
    const answer = await relay.post('/v1/chat/completions', secret, CALL);
    return { status: answer.status, text: await answer.text() };
  };
  const expectSoon = (secret: string, status: number, text = ''): Promise<unknown> =>
    eventually(async () => {
      const answer = await call(secret);
      expect(answer.status).toBe(status);
      expect(answer.text).toContain(text);
    }, FOLLOWS_MS);

  describe('make a key', () => {
    it('that is shown once, works at once, and is found again without its secret', async () => {
      const created = await newKey({ name: 'laptop', quota: '1,000', daily: '5', models: ['fee', 'm'] });
      const secret = secretOn(created);
      expect(created.status).toBe(200);
      expect(created.headers.get('cache-control')).toBe('no-store');
      expect(created.text.split(secret)).toHaveLength(2);
      expect(created.text).toContain('$1,000.00 in all, $5.00 a day');
      await expectSoon(secret, 200);
      const key = await named('laptop');
      expect(key).toMatchObject({ quota: parseUsd('1000'), models: ['fee', 'm'], groupName: undefined });
      for (const path of ['/keys', `/keys/${key.id}/edit`, `/keys/${key.id}/delete`, `/keys/${key.id}/leaked`]) {
        const page = await ann.browser.get(path);
        expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
        expect(page.text).not.toContain(secret.slice(7, -4));
        expect(page.text).toContain(key.hint);
      }
    });

    it('once, however often its form is sent, and shows it to nobody a second time', async () => {
      const once = hidden(await ann.browser.get('/keys/new'), '_once');
      const send = (): Promise<Visited> => ann.browser.post('/keys/new', { ...EMPTY, _once: once, name: 'double' });
      const secret = secretOn(await send());
      expect(secret).not.toBe('');
      const key = await named('double');
      const again = await send();
      expect([again.status, again.location]).toEqual([303, `/keys/${key.id}/edit`]);
      const page = await ann.browser.follow(again);
      expect(page.text).toContain('This key was created before');
      expect(page.text).not.toContain(secret.slice(7, -4));
      expect((await keysOf()).filter(({ name }) => name === 'double')).toHaveLength(1);
    });

    it('but not more than 1,000, of which deleted ones are none', async () => {
      const { accountId } = ann;
      await relay.get(DataSource).query(MANY_KEYS, [accountId, 999]);
      const { id } = await named('many 1');
      const refused = [
        await newKey({ name: 'one more' }),
        await ann.browser.post(`/keys/${id}/replace`, {
          _once: hidden(await ann.browser.get(`/keys/${id}/leaked`), '_once'),
          name: 'one like it',
        }),
      ];
      for (const page of refused) {
        expect(page.status).toBe(422);
        expect(page.text).toMatch(/href="#name"[^<]*>You have 1,000 keys, and there can be no more/);
      }
      await relay.get(OwnKeys).delete({ accountId, id });
      expect(secretOn(await newKey({ name: 'one more' }))).not.toBe('');
    });

    it('60 within an hour, and no more until some time has passed', async () => {
      const owner = { accountId: ann.accountId, groupName: undefined };
      for (let made = 0; made < 60; made++) await relay.get(OwnKeys).create(owner, { name: `key ${made}` });
      const refused = await newKey({ name: 'too soon', daily: '7' });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('Create the next one in 10 minutes');
      expect(refused.text).toContain('value="7"');
      await relay.get(DataSource).query('DELETE FROM throttles');
      expect(secretOn(await newKey({ name: 'in time' }))).not.toBe('');
    });

    it('only when the form is complete, and keeps what was typed', async () => {
      const refused = await newKey({ name: '  ', quota: '1,00', expires: '2020-01-01', weekly: '0.0000001' });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('<title>Error: New key');
      expect(refused.text).toContain('Enter a name of 1 to 60 characters');
      expect(refused.text).toContain('href="#quota"');
      expect(refused.text).toContain('href="#weekly"');
      expect(refused.text).toContain('value="1,00"');
      const later = await newKey({ name: 'late', expires: '2020-01-01' });
      expect([later.status, later.text.includes('Enter a day from today on')]).toEqual([422, true]);
      await expect(keysOf()).resolves.toHaveLength(1);
    });

    it('of a group that is offered and models that it answers for', async () => {
      expect((await newKey({ name: 'x', group: 'nowhere' })).text).toContain('Choose another group');
      const other = await newKey({ name: 'x', group: 'default', models: ['saver-only'] });
      expect([other.status, other.text.includes('Untick saver-only')]).toEqual([422, true]);
      await newKey({ name: 'saver key', group: 'saver', models: 'saver-only' });
      expect(await named('saver key')).toMatchObject({ groupName: 'saver', models: ['saver-only'] });
    });

    it('that is strict or keeps no answers when its owner ticks it, until the box is emptied', async () => {
      const created = await newKey({ name: 'careful', strict: 'yes', neverStores: 'yes' });
      const { id } = await named('careful');
      expect(await named('careful')).toMatchObject({ strict: true, neverStores: true });
      const edit = await ann.browser.get(`/keys/${id}/edit`);
      expect(edit.text).toMatch(/name="strict" value="yes" checked/);
      expect(edit.text).toMatch(/name="neverStores" value="yes" checked/);
      await ann.browser.post(`/keys/${id}/edit`, { ...fieldsOf(edit), neverStores: 'yes' });
      expect(await named('careful')).toMatchObject({ strict: false, neverStores: true });
      expect((await newKey({ name: 'odd', strict: 'perhaps' })).status).toBe(422);
      await expectSoon(secretOn(created), 200);
    });

    it('with limits and networks of its own, as many as there are, until they are emptied', async () => {
      const created = await newKey({
        name: 'paced',
        callsPerMinute: ' 60 ',
        tokensPerMinute: '100,000',
        networks: '127.0.0.1\r\n::1 , 2001:DB8::/32\r\n\r\n203.0.113.0/24',
      });
      expect(created.text).toContain('<dt>At most</dt><dd>60 calls a minute, 100,000 tokens a minute</dd>');
      expect(created.text).toContain('<dt>Only from</dt><dd>4 networks</dd>');
      const { id } = await named('paced');
      expect(await named('paced')).toMatchObject({
        limits: { requestsPerMinute: 60, tokensPerMinute: 100_000 },
        networks: ['127.0.0.1', '::1', '2001:db8::/32', '203.0.113.0/24'],
      });
      expect((await ann.browser.get('/keys')).text).toContain(
        'At most 60 calls a minute, 100,000 tokens a minute, from 4 networks',
      );
      await expectSoon(secretOn(created), 200);
      const edit = await ann.browser.get(`/keys/${id}/edit`);
      const form = fieldsOf(edit);
      expect(form).toMatchObject({ callsPerMinute: '60', tokensPerMinute: '100000', concurrency: '' });
      expect(form['networks']).toBe('127.0.0.1\n::1\n2001:db8::/32\n203.0.113.0/24');
      const change = { ...form, concurrency: '1,000', networks: '203.0.113.0/24' };
      const saved = await ann.browser.post(`/keys/${id}/edit`, change);
      expect((await ann.browser.follow(saved)).text).toContain(
        'at most 60 calls a minute, 100,000 tokens a minute, 1,000 at a time, from 203.0.113.0/24. Calls follow at once.',
      );
      await expectSoon(secretOn(created), 403, 'is not allowed for this key');
      const emptied = { ...fieldsOf(await ann.browser.get(`/keys/${id}/edit`)), ...UNLIMITED };
      await ann.browser.post(`/keys/${id}/edit`, emptied);
      expect((await named('paced')).limits).toEqual({});
      expect((await named('paced')).networks).toBeUndefined();
      await expectSoon(secretOn(created), 200);
    });

    it('whose limits are whole numbers and whose networks are some, and says what is usual', async () => {
      const refused = await newKey({
        name: 'odd',
        callsPerMinute: '0',
        tokensPerMinute: '1.5',
        concurrency: '1,000,000,001',
        networks: '203.0.113.7\n<b>office</b>',
      });
      expect(refused.status).toBe(422);
      for (const field of ['callsPerMinute', 'tokensPerMinute', 'concurrency', 'networks'])
        expect(refused.text).toContain(`<li><a href="#${field}">`);
      expect(refused.text).toContain('Enter a whole number of 1 or more, or leave it empty for no limit of its own.');
      expect(refused.text).toContain('“&lt;b&gt;office&lt;/b&gt;” is no network.');
      expect(refused.text).toContain('>203.0.113.7\n&lt;b&gt;office&lt;/b&gt;</textarea>');
      await relay.applyCatalog('limits: { key: { requests_per_minute: 6000 } }');
      try {
        expect((await ann.browser.get('/keys/new')).text).toContain('Empty: 6,000, as is usual here.');
        expect((await newKey({ name: 'usual' })).text).toContain('<dt>At most</dt><dd>6,000 calls a minute</dd>');
      } finally {
        await relay.applyCatalog('limits: { key: {} }');
      }
    });

    it('that works up to the end of its last day where its owner is', async () => {
      await relay.get(AccountService).setTimeZone(ann.accountId, 'America/Los_Angeles');
      await newKey({ name: 'dated', expires: '2030-01-31' });
      const key = await named('dated');
      expect(key.expiresAt?.toISOString()).toBe('2030-02-01T08:00:00.000Z');
      const page = await ann.browser.get(`/keys/${key.id}/edit`);
      expect(page.text).toContain('value="2030-01-31"');
      expect((await ann.browser.get('/keys')).text).toContain('>31 Jan 2030</time>');
      const kept = { ...fieldsOf(page), name: 'dated still' };
      await ann.browser.post(`/keys/${key.id}/edit`, kept);
      expect((await named('dated still')).expiresAt).toEqual(key.expiresAt);
    });

    it('only for a form of our own', async () => {
      const page = await ann.browser.get('/keys/new');
      const form = { ...EMPTY, name: 'forged', _once: hidden(page, '_once') };
      expect((await ann.browser.post('/keys/new', { ...form, _csrf: 'x' })).status).toBe(403);
      expect((await ann.browser.post('/keys/new', form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      await expect(keysOf()).resolves.toHaveLength(1);
    });
  });

  describe('change what the relay does', () => {
    it('within a second: a quota that is used up names its key, and when it is raised the next call passes', async () => {
      const secret = secretOn(await newKey({ name: 'little', quota: '0.05' }));
      const { id } = await named('little');
      await expectSoon(secret, 200);
      let answer = await call(secret);
      for (let calls = 0; answer.status === 200 && calls < 10; calls += 1) answer = await call(secret);
      expect(answer.status).toBe(429);
      expect(answer.text).toContain('insufficient quota');
      expect(answer.text).toContain('little');
      const refused = await ann.browser.submit(`/keys/${id}/edit`, { quota: '-1' }, `/keys/${id}/raise`);
      expect([refused.status, refused.text.includes('<title>Error: ')]).toEqual([422, true]);
      const raised = await ann.browser.post(`/keys/${id}/raise`, { quota: '1' });
      expect((await ann.browser.follow(raised)).text).toContain('$1.05 in all');
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
      expect([page.status, page.text.includes('It was deleted')]).toEqual([200, true]);
      expect((await ann.browser.post(`/keys/${id}/enable`)).status).toBe(400);
    });

    it('and delete a key in use only when its name is typed', async () => {
      const { id } = await relay.get(ApiKeyService).create({ accountId: ann.accountId, name: 'in use' });
      const idle = await ann.browser.get(`/keys/${id}/delete`);
      expect(idle.text).toContain('No call was made with it');
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
      expect(refused.text).toContain('Type the name of the key, in use, to delete it.');
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
    expect(conflict.text).toContain('Allowed addresses: now <b>–</b>, yours <b>203.0.113.7, 2001:db8::1</b>');
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
      'model not read',
      '203.0.113.77',
      'stranger-model',
      '>120<',
      'front-end code, a repository or a screenshot',
      'One key per person and client',
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
    expect(replaced.text).toContain(`Made: <a href="/keys/${like.id}/edit">leaky 4</a>`);
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
      const answer = await ann.browser.get(`/keys/${id}/${path}`);
      expect(answer.status).toBe(404);
      expect(withoutIds(answer.text)).toBe(withoutIds(nobody.text));
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
    const rows = ({ text }: Visited): string[] =>
      [...text.matchAll(/<a class="plain"[^>]*>([^<]*)</g)].map(([, name = '']) => name);
    const link = ({ text }: Visited, label: string): string | undefined =>
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
    expect(none.text).toContain('No key matches');
    const stale = await ann.browser.get('/keys?before=nonsense');
    expect([rows(stale).length, stale.text.includes('This is the beginning of the list')]).toEqual([50, true]);
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
    expect((await bob.browser.follow(none)).text).toContain('None of your keys is the one that you pasted');
  });

  it('say that there is none yet, and how to make the first', async () => {
    const carl = await someone();
    await relay.get(OwnKeys).delete({ accountId: carl.accountId, id: carl.caller.keyId });
    const page = await carl.browser.get('/keys');
    expect(page.text).toContain('Create your first key');
    expect(page.text).not.toContain('<table');
  });

  it('are for those alone who are signed in', async () => {
    const stranger = new PageVisitor(relay.url);
    for (const path of ['/keys', '/keys/new', `/keys/${ann.caller.keyId}/edit`]) {
      const answer = await stranger.get(path);
      expect([answer.status, answer.location]).toEqual([303, `/sign-in?next=${encodeURIComponent(path)}`]);
    }
  });
});

/** Keys that nobody knows the secret of; `many 1` is the newest. */
const MANY_KEYS = `
  INSERT INTO api_keys (id, account_id, name, secret_hash, hint)
  SELECT 'key_z' || lpad((2000 - n)::text, 31, '0'), $1, 'many ' || n, sha256(($1 || n)::bytea), 'sk-many…' || n
    FROM generate_series(1, $2::int) n`;

const EMPTY = {
  name: '',
  group: 'default',
  quota: '',
  daily: '',
  weekly: '',
  monthly: '',
  callsPerMinute: '',
  tokensPerMinute: '',
  concurrency: '',
  expires: '',
  networks: '',
};

const UNLIMITED = { callsPerMinute: '', tokensPerMinute: '', concurrency: '', networks: '' };

/** The fields of the settings form of a page, as a browser would send them. */
function fieldsOf({ text }: Visited): Record<string, string> {
  const form = /<form class="card card--form"[^]*?<\/form>/.exec(text)?.[0] ?? '';
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const [name, value] = [/name="([^"]*)"/.exec(tag)?.[1] ?? '', /value="([^"]*)"/.exec(tag)?.[1] ?? ''];
    if (!tag.includes('type="checkbox"') && !name.startsWith('_')) fields[name] = value;
  }
  fields['networks'] = /<textarea[^>]*>([^<]*)</.exec(form)?.[1] ?? '';
  fields['group'] = /<option value="([^"]*)" selected/.exec(form)?.[1] ?? '';
  return fields;
}

/** Pages of two requests differ in what names the request and the browser. */
const withoutIds = (text: string): string =>
  text.replaceAll(/req_[0-9a-f]{32}|key_\w+/g, 'ID').replaceAll(/<time[^>]*>[^<]*<\/time>|[?&]?\/?keys\/[^"<]*/g, '');
