import { OwnKeys } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { type Person, secretOn, useKeyPages } from '../support/key-pages.js';
import type { RelayApp } from '../support/relay-app.js';

describe('the change of several keys', () => {
  const world = useKeyPages();
  const { someone, newKey, named, call, expectSoon } = world;
  let relay: RelayApp;
  let ann: Person;
  beforeEach(() => {
    ({ relay, ann } = world);
  });

  const made = async (name: string): Promise<{ id: string; secret: string }> => {
    const secret = secretOn(await newKey({ name }));
    return { id: (await named(name)).id, secret };
  };
  const act = async (id: readonly string[], _act: string, _back = '/keys?group=default') => {
    await ann.browser.get('/keys');
    return ann.browser.post('/keys/selected', { id, _act, _back });
  };

  it('disables, enables and deletes them within a second, and returns to the list as it was filtered', async () => {
    const [one, two] = [await made('one'), await made('two')];
    const ids = [one.id, two.id];
    await expectSoon(one.secret, 200);
    const disabled = await act(ids, 'disable');
    expect(disabled.location).toBe('/keys?group=default');
    expect((await ann.browser.follow(disabled)).text).toContain('2 keys disabled');
    for (const { secret } of [one, two]) await expectSoon(secret, 401, 'Invalid token');
    await act(ids, 'enable');
    for (const { secret } of [one, two]) await expectSoon(secret, 200);
    const confirm = await ann.browser.follow(await act(ids, 'delete'));
    expect(confirm.text).toContain('Delete 2 keys?');
    expect(confirm.text).toContain('In use within the last 24 hours');
    const refused = await ann.browser.post('/keys/selected/delete', { id: ids, confirm: 'yes', _back: '/keys' });
    expect([refused.status, refused.text.includes('Enter 2 to delete 2 keys.')]).toEqual([422, true]);
    const deleted = await ann.browser.post('/keys/selected/delete', { id: ids, confirm: ' 2 ', _back: '/keys' });
    expect((await ann.browser.follow(deleted)).text).toContain('2 keys deleted');
    for (const { secret } of [one, two]) await expectSoon(secret, 401, 'Invalid token');
    expect((await call(ann.caller.key)).status).toBe(200);
  });

  it('sets the entered limits, keeps those left empty and removes those set to none', async () => {
    const [one, two] = [await made('one'), await made('two')];
    await relay.get(OwnKeys).change({ accountId: ann.accountId, groupName: undefined }, one.id, 1, {
      name: 'one',
      quota: parseUsd('5'),
      limits: { concurrency: 3, requestsPerMinute: 10 },
    });
    const page = await ann.browser.follow(await act([one.id, two.id], 'edit'));
    expect(page.text).toContain('Edit 2 keys');
    const fields = { ...NO_CHANGE, id: [one.id, two.id], _back: '/keys?q=o' };
    const refused = await ann.browser.post('/keys/selected/edit', { ...fields, daily: 'a lot', concurrency: '0' });
    expect(refused.status).toBe(422);
    for (const text of [
      'Enter an amount in dollars',
      'Enter an integer of at least 1',
      one.id,
      two.id,
      '/keys?q&#x3D;o',
    ])
      expect(refused.text).toContain(text);
    const typed = { ...fields, quota: ' None', daily: '1.50', callsPerMinute: '60', concurrency: 'none' };
    const saved = await ann.browser.post('/keys/selected/edit', typed);
    expect(saved.location).toBe('/keys?q=o');
    expect((await ann.browser.follow(saved)).text).toContain('2 keys changed');
    for (const name of ['one', 'two']) {
      const key = await named(name);
      expect(key).toMatchObject({ quota: undefined, limits: { requestsPerMinute: 60 }, groupName: undefined });
      expect([key.budgets.daily?.limit, key.limits.concurrency]).toEqual([parseUsd('1.5'), undefined]);
    }
    const nothing = await ann.browser.post('/keys/selected/edit', fields);
    expect((await ann.browser.follow(nothing)).text).toContain('No changes to save');
    expect((await named('two')).version).toBe((await named('one')).version - 1);
  });

  it('changes none of them when one cannot be changed, and says which', async () => {
    const [one, two] = [await made('one'), await made('two')];
    await expectSoon(two.secret, 200);
    const fields = { ...NO_CHANGE, id: [one.id, two.id], _back: '/keys' };
    await act([one.id], 'edit');
    const below = await ann.browser.post('/keys/selected/edit', { ...fields, quota: '0.01' });
    expect(below.status).toBe(422);
    expect(below.text).toContain('“two”: A quota of $0.01 is not possible: $0.02 is used');
    await relay.get(OwnKeys).delete({ accountId: ann.accountId, id: two.id });
    const attempts = [
      () => act([one.id, two.id], 'disable'),
      () => ann.browser.post('/keys/selected/edit', { ...fields, daily: '5' }),
    ];
    for (const attempt of attempts) {
      const list = (await ann.browser.follow(await attempt())).text;
      expect(list).toContain('No keys were changed');
      expect(list).toContain('“two”: The key');
    }
    expect(await named('one')).toMatchObject({ state: 'enabled', quota: undefined, version: 1 });
  });

  it('needs a selection, of one’s own keys', async () => {
    const none = await ann.browser.follow(await act([], 'disable'));
    expect(none.text).toContain('No keys selected');
    const bob = await someone();
    const theirs = await ann.browser.follow(await act([bob.caller.keyId], 'disable'));
    expect(theirs.text).toContain('No keys were changed');
    for (const page of ['edit', 'delete']) {
      expect((await ann.browser.get(`/keys/selected/${page}?id=${bob.caller.keyId}`)).status).toBe(404);
      expect((await ann.browser.get(`/keys/selected/${page}?id=%00`)).status).toBe(404);
      expect((await ann.browser.get(`/keys/selected/${page}`)).status).toBe(400);
    }
    const many = Array.from({ length: 51 }, (_, number) => `key_${number}`);
    expect((await ann.browser.post('/keys/selected', { id: many, _act: 'disable' })).status).toBe(400);
    expect((await act([ann.caller.keyId], 'edit', 'https://evil.example/')).location).toContain('_back=%2Fkeys');
    expect((await call(bob.caller.key)).status).toBe(200);
  });
});

/** The form as a browser sends it when nothing is filled in. */
const NO_CHANGE = {
  group: '',
  quota: '',
  daily: '',
  weekly: '',
  monthly: '',
  callsPerMinute: '',
  tokensPerMinute: '',
  concurrency: '',
};
