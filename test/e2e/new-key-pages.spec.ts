import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { OwnKeys } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { EMPTY, fieldsOf, hidden, type Person, secretOn, useKeyPages } from '../support/key-pages.js';
import type { PageResponse } from '../support/page-visitor.js';
import type { RelayApp } from '../support/relay-app.js';

describe('the pages of keys', () => {
  const world = useKeyPages();
  const { newKey, keysOf, named, expectSoon } = world;
  let ann: Person;
  let relay: RelayApp;
  beforeEach(() => {
    ({ relay, ann } = world);
  });

  describe('make a key', () => {
    it('that is shown once, works at once, and is found again without its secret', async () => {
      const created = await newKey({ name: 'laptop', quota: '1,000', daily: '5', models: ['fee', 'm'] });
      const secret = secretOn(created);
      expect(created.status).toBe(200);
      expect(created.headers.get('cache-control')).toBe('no-store');
      expect(created.text.split(secret)).toHaveLength(2);
      expect(created.text).toContain('$1,000.00 total, $5.00 per day');
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

    it('once, however often its form is sent, and shows it only once', async () => {
      const once = hidden(await ann.browser.get('/keys/new'), '_once');
      const send = (): Promise<PageResponse> =>
        ann.browser.post('/keys/new', { ...EMPTY, _once: once, name: 'double' });
      const secret = secretOn(await send());
      expect(secret).not.toBe('');
      const key = await named('double');
      const again = await send();
      expect([again.status, again.location]).toEqual([303, `/keys/${key.id}/edit`]);
      const page = await ann.browser.follow(again);
      expect(page.text).toContain('This key was already created');
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
        expect(page.text).toMatch(/href="#name"[^<]*>You have reached the maximum of 1,000 API keys/);
      }
      await relay.get(OwnKeys).delete({ accountId, id });
      expect(secretOn(await newKey({ name: 'one more' }))).not.toBe('');
    });

    it('60 within an hour, and no more until some time has passed', async () => {
      const owner = { accountId: ann.accountId, groupName: undefined };
      for (let made = 0; made < 60; made++) await relay.get(OwnKeys).create(owner, { name: `key ${made}` });
      const refused = await newKey({ name: 'too soon', daily: '7' });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('Try again in 10 minutes');
      expect(refused.text).toContain('value="7"');
      await relay.get(DataSource).query('DELETE FROM throttles');
      expect(secretOn(await newKey({ name: 'in time' }))).not.toBe('');
    });

    it('only when the form is complete, and keeps what was typed', async () => {
      const refused = await newKey({ name: '  ', quota: '1,00', expires: '2020-01-01', weekly: '0.0000001' });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('<title>Error: Create key');
      expect(refused.text).toContain('Enter a name of 1 to 100 characters');
      expect(refused.text).toContain('href="#quota"');
      expect(refused.text).toContain('href="#weekly"');
      expect(refused.text).toContain('value="1,00"');
      const later = await newKey({ name: 'late', expires: '2020-01-01' });
      expect([later.status, later.text.includes('Enter today or a later date')]).toEqual([422, true]);
      await expect(keysOf()).resolves.toHaveLength(1);
    });

    it('of a group that is offered and models that it answers for', async () => {
      expect((await newKey({ name: 'x', group: 'nowhere' })).text).toContain('Choose another group');
      const other = await newKey({ name: 'x', group: 'default', models: ['saver-only'] });
      expect([other.status, other.text.includes('Deselect saver-only')]).toEqual([422, true]);
      await newKey({ name: 'saver key', group: 'saver', models: 'saver-only' });
      expect(await named('saver key')).toMatchObject({ groupName: 'saver', models: ['saver-only'] });
    });

    it('that is strict or keeps no responses when its owner ticks it, until the box is emptied', async () => {
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
      expect(created.text).toContain('<dt>Rate limits</dt><dd>60 calls/min, 100,000 tokens/min</dd>');
      expect(created.text).toContain('<dt>Allowed networks</dt><dd>4 networks</dd>');
      const { id } = await named('paced');
      expect(await named('paced')).toMatchObject({
        limits: { requestsPerMinute: 60, tokensPerMinute: 100_000 },
        networks: ['127.0.0.1', '::1', '2001:db8::/32', '203.0.113.0/24'],
      });
      expect((await ann.browser.get('/keys')).text).toContain(
        '60 calls/min, 100,000 tokens/min · only from 4 networks',
      );
      await expectSoon(secretOn(created), 200);
      const edit = await ann.browser.get(`/keys/${id}/edit`);
      const form = fieldsOf(edit);
      expect(form).toMatchObject({ callsPerMinute: '60', tokensPerMinute: '100000', concurrency: '' });
      expect(form['networks']).toBe('127.0.0.1\n::1\n2001:db8::/32\n203.0.113.0/24');
      const change = { ...form, concurrency: '1,000', networks: '203.0.113.0/24' };
      const saved = await ann.browser.post(`/keys/${id}/edit`, change);
      expect((await ann.browser.follow(saved)).text).toContain(
        'Rate limits: 60 calls/min, 100,000 tokens/min, 1,000 at a time · only from 203.0.113.0/24. Changes apply immediately.',
      );
      await expectSoon(secretOn(created), 403, 'is not allowed for this key');
      const emptied = { ...fieldsOf(await ann.browser.get(`/keys/${id}/edit`)), ...UNLIMITED };
      await ann.browser.post(`/keys/${id}/edit`, emptied);
      expect((await named('paced')).limits).toEqual({});
      expect((await named('paced')).networks).toBeUndefined();
      await expectSoon(secretOn(created), 200);
    });

    it('with whole-number limits and valid networks, and shows the defaults', async () => {
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
      expect(refused.text).toContain('Enter an integer of at least 1, or leave empty for the default.');
      expect(refused.text).toContain('“&lt;b&gt;office&lt;/b&gt;” is not a network.');
      expect(refused.text).toContain('>203.0.113.7\n&lt;b&gt;office&lt;/b&gt;</textarea>');
      await relay.applyCatalog('limits: { key: { requests_per_minute: 6000 } }');
      try {
        expect((await ann.browser.get('/keys/new')).text).toContain('Leave empty for the default of 6,000.');
        expect((await newKey({ name: 'usual' })).text).toContain('<dt>Rate limits</dt><dd>6,000 calls/min</dd>');
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
});

/** Keys that nobody knows the secret of; `many 1` is the newest. */
const MANY_KEYS = `
  INSERT INTO api_keys (id, account_id, name, secret_hash, hint)
  SELECT 'key_z' || lpad((2000 - n)::text, 31, '0'), $1, 'many ' || n, sha256(($1 || n)::bytea), 'sk-many…' || n
    FROM generate_series(1, $2::int) n`;

const UNLIMITED = { callsPerMinute: '', tokensPerMinute: '', concurrency: '', networks: '' };
