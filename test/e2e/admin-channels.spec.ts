import { DataSource } from 'typeorm';
import { CatalogInventory } from '../../src/catalog/channels/index.js';
import { channelFields, useChannelPages } from '../support/channel-pages.js';
import { eventually } from '../support/eventually.js';

const MAIN = 'chat-completions-main';
const TYPED = 'sk-typed-into-the-page-7b1x-8f2Q';

describe('channel pages', () => {
  const world = useChannelPages();

  const call = async (model: string): Promise<number> => {
    const { key } = await world.relay.caller();
    const body = { model, messages: [{ role: 'user', content: 'Hi' }] };
    return (await world.relay.post('/v1/chat/completions', key, body)).status;
  };

  it('change nothing when an unchanged form is saved', async () => {
    const before = await world.exported();
    const saved = await world.send(MAIN, {});
    expect(saved.status).toBe(303);
    expect((await world.operator.follow(saved)).text).toContain('No changes to save.');
    expect(await world.exported()).toBe(before);
  });

  it('keep upstream costs that are not in the form', async () => {
    const [model] = Object.keys((await world.named(MAIN)).entry['models'] as object);
    const name = `  - name: ${MAIN}\n`;
    const text = (await world.exported()).replace(name, `${name}    costs: { ${model}: 0.5 }\n`);
    await world.relay.applyCatalog(text);
    expect((await world.send(MAIN, { weight: '77' })).status).toBe(303);
    expect((await world.named(MAIN)).entry).toMatchObject({ weight: 77, costs: { [model!]: { source: '0.5' } } });
  });

  it('report credential errors in terms of the form, not of the catalog file', async () => {
    const none = await world.send(MAIN, { held: [], secret: [] });
    expect([none.status, none.text.includes('Enter a credential, or choose “No credential”.')]).toEqual([422, true]);
    const needless = await world.send(MAIN, { auth: 'none' });
    expect([needless.status, needless.text.includes('“No credential” allows no credentials.')]).toEqual([422, true]);
    expect([none, needless].filter(({ text }) => text.includes('auth: none'))).toEqual([]);
  });

  it('create the same channel as a catalog file', async () => {
    const made = await world.add({
      name: 'by hand',
      protocol: 'chat-completions',
      baseUrl: `${world.relay.upstream.url}/`,
      secret: TYPED,
      public: ['unserved', 'unserved'],
      upstream: ['vendor-a', 'vendor-b'],
      groups: ['default'],
      tier: '2',
      weight: '1,000',
      maxConcurrency: '7',
      query: 'api-version=2026-01-01',
      headers: 'X-Team: relay',
      '_flag.maxTokensField': 'max_completion_tokens',
    });
    expect(made.status).toBe(303);
    const page = await world.operator.follow(made);
    expect(page.text).toContain('Ends in 8f2Q.');
    const { entry } = await world.named('by hand');
    expect(entry).toEqual({
      name: 'by hand',
      protocol: 'chat-completions',
      base_url: world.relay.upstream.url,
      auth: 'bearer',
      query: { 'api-version': '2026-01-01' },
      models: { unserved: ['vendor-a', 'vendor-b'] },
      groups: ['default'],
      tier: 2,
      weight: 1000,
      max_concurrency: 7,
      timeouts: { connect_ms: 10000, first_event_ms: 120000, idle_ms: 300000, total_ms: 1800000 },
      headers: { 'x-team': 'relay' },
      flags: { maxTokensField: 'max_completion_tokens' },
    });
    await eventually(async () => expect(await call('unserved')).toBe(200));
    const request = world.relay.upstream.requests.at(-1);
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${TYPED}`, 'x-team': 'relay' });
  });

  it('create models that the catalog lacks together with the channel', async () => {
    const fields = {
      name: 'with new models',
      baseUrl: world.relay.upstream.url,
      secret: TYPED,
      groups: ['default', 'saver'],
      public: ['house', 'gpt-5.5', 'm'],
      upstream: ['house-2026', 'gpt-5.5', 'vendor-m'],
    };
    const shown = await world.add(fields);
    expect([shown.status, shown.text.includes('The model “house” does not exist.')]).toEqual([422, true]);
    expect(shown.text).toContain('List price of OpenAI');
    const refused = await world.operator.post('/admin/channels/new', channelFields(shown));
    expect(refused.text).toContain('Enter the input price of house in dollars per million tokens');
    expect(await world.exported()).not.toContain('house');
    const added = await world.operator.post('/admin/channels/new', {
      ...channelFields(refused),
      asked: ['house'],
      askedContext: ['200,000'],
      askedInput: ['1'],
      askedOutput: ['2.50'],
    });
    expect(added.status).toBe(303);
    const { models, costs } = await world.named('with new models');
    expect(models).toEqual({ house: ['house-2026'], 'gpt-5.5': ['gpt-5.5'], m: ['vendor-m'] });
    expect(Object.keys(costs)).toEqual(['gpt-5.5']);
    const { thing } = await world.relay.get(CatalogInventory).model('house');
    expect(thing.definition).toMatchObject({ contextWindow: 200_000, groups: ['default', 'saver'] });
    expect(thing.definition?.pricing.tiers).toEqual([{ from_prompt_tokens: 0, input: '1', output: '2.5' }]);
  });

  it('show catalog file errors at the fields, and keep everything typed but secrets', async () => {
    const refused = await world.add({
      name: MAIN,
      baseUrl: 'ftp://upstream.example',
      secret: TYPED,
      public: 'no-such-model',
      upstream: 'vendor-a',
      tier: 'first',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Enter a whole number from 0 to 1,000.');
    expect(refused.text).not.toContain(TYPED);
    expect(refused.text).toContain('Kept encrypted on this page');
    expect(channelFields(refused)).toMatchObject({ name: MAIN, baseUrl: 'ftp://upstream.example', tier: 'first' });
    const typed = { ...channelFields(refused), tier: '1', secret: TYPED, public: 'm' };
    const address = await world.add(typed);
    expect(address.text).toContain('The base URL must start with http:// or https://.');
    const there = { ...typed, baseUrl: world.relay.upstream.url };
    const name = await world.add(there);
    expect(name.text).toContain(`Enter another name: a channel “${MAIN}” already exists.`);
  });

  it('show both values and overwrite nothing when the channel was changed meanwhile', async () => {
    const { id } = await world.named('messages-main');
    const path = `/admin/channels/${id}`;
    const opened = channelFields(await world.operator.get(path));
    expect((await world.operator.post(path, { ...opened, weight: '55' })).status).toBe(303);
    const conflict = await world.operator.post(path, { ...opened, weight: '66' });
    expect(conflict.status).toBe(409);
    expect(conflict.text).toContain('Weight: now <b>55</b>, yours <b>66</b>');
    expect(await world.named('messages-main')).toMatchObject({ weight: 55 });
    expect((await world.operator.post(path, channelFields(conflict))).status).toBe(303);
    expect(await world.named('messages-main')).toMatchObject({ weight: 66 });
  });

  it('keep id, secrets and statistics when a channel is renamed', async () => {
    const before = await world.named('responses-main');
    expect((await world.send('responses-main', { name: 'renamed' })).status).toBe(303);
    const after = await world.named('renamed');
    expect(after).toMatchObject({ id: before.id, formerNames: ['responses-main'] });
    expect(after.credentials).toEqual(before.credentials);
    await world.send('renamed', { name: 'responses-main' });
    expect((await world.named('responses-main')).formerNames).toEqual(['renamed']);
  });

  it('link to the calls and changes of a channel under all its names', async () => {
    const { id } = await world.named('responses-main');
    const { key } = await world.relay.caller();
    const response = await world.relay.post('/v1/responses', key, { model: 'm', input: 'Hi' });
    const requestId = response.headers.get('x-request-id') ?? '';
    await world.send('responses-main', { name: 'renamed again', tier: '3' });
    const { text } = await world.operator.get(`/admin/channels/${id}`);
    const [, calls = ''] = /href="(\/admin\/calls\?[^"]*)"/.exec(text) ?? [];
    await eventually(async () =>
      expect((await world.operator.get(calls.replaceAll('&#x3D;', '='))).text).toContain(requestId),
    );
    expect(text).toMatch(/<a href="\/admin\/audit[^"]*">last changed <time.*?<\/a> by [^<]+@[^<]+</);
    const [, changes = ''] = /href="(\/admin\/audit\?[^"]*)"/.exec(text) ?? [];
    const log = await world.operator.get(changes.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'));
    const opened = await Promise.all(
      [...log.text.matchAll(/data-toggle href="([^"]*)"/g)].map(([, href = '']) =>
        world.operator.get(href.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')),
      ),
    );
    for (const name of ['renamed again', 'renamed'])
      expect(opened.map((page) => page.text).join('')).toContain(`<del>responses-main</del> → <ins>${name}</ins>`);
    await world.send('renamed again', { name: 'responses-main', tier: '1' });
  });

  it('name invalid fields in the save bar, and still show the weight share', async () => {
    const shown = await world.operator.get(`/admin/channels/${(await world.named(MAIN)).id}`);
    const [share = ''] = /\d+% of tier 1/.exec(shown.text) ?? [];
    expect(share).not.toBe('');
    const refused = await world.send(MAIN, { maxConcurrency: '0', totalMs: 'long' });
    expect(refused.text).toMatch(/class="savebar"><span class="bad">Fix 2 fields: Concurrent calls, Total timeout</);
    expect(refused.text).toContain(share);
    expect((await world.send(MAIN, { _act: 'check' })).text).toContain(share);
  });

  it('report a placeholder for a credential that is not stored', async () => {
    const fields = { name: 'starred', baseUrl: world.relay.upstream.url, public: 'm', secret: '***' };
    const refused = await world.add(fields);
    expect([refused.status, refused.text.includes('has no stored secret for “***”')]).toEqual([422, true]);
  });

  it('disable and enable a channel, and saving does not enable it', async () => {
    const { id } = await world.named(MAIN);
    await world.operator.get(`/admin/channels/${id}`);
    await world.operator.post(`/admin/channels/${id}/off`);
    await eventually(async () => expect(await call('only-chat')).not.toBe(200));
    expect((await world.operator.get('/admin/channels?s=off')).text).toContain(MAIN);
    expect((await world.send(MAIN, { weight: '90' })).status).toBe(303);
    expect(await world.named(MAIN)).toMatchObject({ enabled: false, weight: 90 });
    await world.operator.post(`/admin/channels/${id}/on`);
    await eventually(async () => expect(await call('only-chat')).toBe(200));
  });

  it('require the name to delete a channel in use, and free the name', async () => {
    const { id } = await world.named('by hand');
    const path = `/admin/channels/${id}/delete`;
    expect((await world.operator.get(path)).text).toContain('This channel is in use');
    expect((await world.operator.post(path, { confirm: 'by mistake' })).status).toBe(422);
    expect((await world.operator.post(path, { confirm: 'by hand' })).status).toBe(303);
    expect((await world.operator.get(`/admin/channels/${id}`)).status).toBe(404);
    expect((await world.operator.get('/admin/channels')).text).not.toContain(`/admin/channels/${id}`);
    const [row] = await world.relay
      .get(DataSource)
      .query<{ credentials: unknown }[]>('SELECT credentials FROM channels WHERE id = $1', [id]);
    expect(row?.credentials).toEqual([]);
    const fields = { name: 'by hand', baseUrl: world.relay.upstream.url, auth: 'none', public: 'unserved' };
    expect((await world.add(fields)).status).toBe(303);
  });
});
