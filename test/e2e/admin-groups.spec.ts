import { DataSource } from 'typeorm';
import { CatalogExport } from '../../src/catalog/channels/index.js';
import type { PageVisitor, PageResponse } from '../support/page-visitor.js';
import { fieldsSentTo } from '../support/channel-pages.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';

type Fields = Readonly<Record<string, string | string[]>>;

const CHANNEL = 'chat-completions-main';

describe('group pages', () => {
  let relay: RelayApp;
  let operator: PageVisitor;

  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(() => relay.close());

  const exported = async (): Promise<string> => (await relay.get(CatalogExport).export()).text;
  const revisionOf = ({ text }: PageResponse): string => /name="revision" value="([^"]*)"/.exec(text)?.[1] ?? '';
  const change = async (name: string, fields: Fields): Promise<PageResponse> => {
    const page = await operator.get(`/admin/groups/${name}`);
    const stored = { multiplier: '0.8', choice: 'everyone', revision: revisionOf(page) };
    return operator.post(`/admin/groups/${name}`, { ...stored, ...fields });
  };

  it('create the same group as a catalog file', async () => {
    const added = await operator.submit('/admin/groups/new', {
      name: 'team',
      multiplier: '1.250',
      factorOf: ['m', 'free'],
      factor: ['0.9', '2'],
      description: 'For the team',
      choice: 'assigned',
      callsPerMinute: '1,000',
      concurrency: '4',
      reason: 'they asked',
    });
    expect(added.location).toBe('/admin/groups/team');
    expect(await exported()).toContain(`  - name: team
    multiplier: 1.25
    models: { m: 0.9, free: 2 }
    description: For the team
    choice: assigned
    limits: { requests_per_minute: 1000, concurrency: 4 }`);
    const [entry] = await relay
      .get(DataSource)
      .query(`SELECT action, reason FROM audit_entries WHERE object_id = 'team' AND object_kind = 'group'`);
    expect(entry).toEqual({ action: 'added', reason: 'they asked' });
    expect((await operator.get('/admin/groups')).text).toContain('Assigned users');
  });

  it('show catalog file errors at the fields, and change nothing', async () => {
    const before = await exported();
    const refused = await change('team', { multiplier: 'half', factorOf: 'nobody', factor: '2', concurrency: '0' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('id="multiplier-error"');
    expect(refused.text).toContain('id="concurrency-error"');
    expect(refused.text).toContain('value="half"');
    const unknown = await change('team', { factorOf: 'nobody', factor: '2' });
    expect(unknown.text).toMatch(/id="models-error".*The model “nobody” does not exist/);
    const taken = await operator.submit('/admin/groups/new', { name: 'team', multiplier: '1', choice: 'everyone' });
    expect([taken.status, taken.text.includes('A group with this name already exists')]).toEqual([422, true]);
    expect(await exported()).toBe(before);
  });

  it('take models and channels, and give up only what was unticked', async () => {
    await relay.applyCatalog('groups: [{ name: packed }]');
    const shown = async () => fieldsSentTo('/admin/groups/packed', await operator.get('/admin/groups/packed'));
    const fields = await shown();
    const saved = await operator.post('/admin/groups/packed', { ...fields, model: ['m', 'free'], channel: CHANNEL });
    expect(saved.location).toBe('/admin/groups/packed');
    expect(await shown()).toMatchObject({ model: ['free', 'm'], channel: CHANNEL });
    const { key } = await relay.caller({ group: 'packed' });
    const call = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await relay.post('/v1/chat/completions', key, call)).status).toBe(200);
    // This page does not know of what comes after it.
    const { model: _, channel: __, hadModel: ___, hadChannel: ____, ...stale } = fields;
    await operator.post('/admin/groups/packed', { ...stale, hadModel: 'free' });
    expect(await shown()).toMatchObject({ model: 'm', channel: CHANNEL });
    const audit = await relay
      .get(DataSource)
      .query(`SELECT object_kind, action FROM audit_entries WHERE object_name = 'free' ORDER BY id DESC LIMIT 1`);
    expect(audit).toEqual([{ object_kind: 'model', action: 'changed' }]);
  });

  it('keep a model that has no other group', async () => {
    const before = await exported();
    const fields = fieldsSentTo('/admin/groups/default', await operator.get('/admin/groups/default'));
    const model = [fields['model'] ?? []].flat().filter((name) => name !== 'fee');
    const refused = await operator.post('/admin/groups/default', { ...fields, model });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('The group must keep fee: this is its only group.');
    expect(await exported()).toBe(before);
  });

  it('preview prices without saving', async () => {
    const before = await exported();
    const shown = await change('saver', { multiplier: '2', model: 'm', _act: 'recalculate' });
    // m at $1.00, $0.10 and $10.00: 2,000 in, 8,000 cached and 1,000 out are $0.0128, times 0.8 and times 2.
    expect(shown.text).toContain('$0.01<span class="tail">0240</span>');
    expect(shown.text).toContain('$0.02<span class="tail">5600</span>');
    expect(await exported()).toBe(before);
  });

  it('preview prices of a new group before it has a name', async () => {
    const shown = await operator.submit('/admin/groups/new', {
      multiplier: '2',
      choice: 'everyone',
      _act: 'recalculate',
    });
    // m as above, times 2; nothing is asked of the name.
    expect([shown.status, shown.text.includes('$0.02<span class="tail">5600</span>')]).toEqual([200, true]);
    expect(shown.text).not.toContain('name-error');
    const refused = await operator.submit('/admin/groups/new', { multiplier: 'much', _act: 'recalculate' });
    expect(refused.text).toContain('id="multiplier-error"');
  });

  it('count the affected users and API keys when a group is disabled, and name ten of them', async () => {
    await relay.applyCatalog('groups: [{ name: full }]');
    const { accountId, email } = await relay.caller({ group: 'full' });
    for (let more = 0; more < 11; more++) await relay.caller({ group: 'full' });
    const sql = `UPDATE api_keys SET name = 'a key of its own' WHERE account_id = $1`;
    await relay.get(DataSource).query(sql, [accountId]);
    await relay.get(DataSource).query(`UPDATE accounts SET email = 'a@example.com' WHERE id = $1`, [accountId]);
    const { text } = await operator.get('/admin/groups/full');
    expect(text).toContain('This affects 12 users and 12 API keys until you move them');
    expect(text).toContain(`<a href="/admin/users/${accountId}">a@example.com</a>`);
    expect(text).toContain(`<a href="/admin/users/${accountId}">a key of its own</a> of a@example.com`);
    expect(text.match(/ and 2 more<\/dd>/g)).toHaveLength(2);
    expect(text).not.toContain(email);
    await operator.post('/admin/groups/full/switch', { to: 'off' });
    const off = await operator.get('/admin/groups/full');
    expect(off.text).toContain('This affects 12 users and 12 API keys.');
    expect(off.text).toContain('a key of its own');
    const other = await relay.caller();
    expect(off.text).toContain('href="/admin/users?group&#x3D;full"');
    const users = await operator.get('/admin/users?group=full');
    expect([users.text.includes('a@example.com'), users.text.includes(other.email)]).toEqual([true, false]);
  });

  it('show both values and overwrite nothing when the group was changed meanwhile', async () => {
    const page = await operator.get('/admin/groups/saver');
    await change('saver', { multiplier: '0.7' });
    const fields = { multiplier: '0.6', choice: 'everyone' };
    const second = await operator.post('/admin/groups/saver', { ...fields, revision: revisionOf(page) });
    expect([second.status, second.text.includes('Multiplier: now <b>0.7</b>, yours <b>0.6</b>')]).toEqual([409, true]);
    expect(await exported()).toContain('multiplier: 0.7');
    const again = await operator.post('/admin/groups/saver', { ...fields, revision: revisionOf(second) });
    expect(again.status).toBe(303);
    expect(await exported()).toContain('multiplier: 0.6');
  });

  it('disable and enable a group, but not the default group', async () => {
    await operator.get('/admin/groups/team');
    await operator.post('/admin/groups/team/switch', { to: 'off' });
    expect(await exported()).not.toContain('name: team');
    await operator.post('/admin/groups/team/switch', { to: 'on' });
    expect(await exported()).toContain('name: team');
    expect((await operator.get('/admin/groups/default')).text).not.toContain('action="/admin/groups/default/switch"');
    const refused = await operator.post('/admin/groups/default/switch', { to: 'off' });
    expect(refused.status).toBe(400);
    expect((await operator.get('/admin/groups/nothing')).status).toBe(404);
  });
});
