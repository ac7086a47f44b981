import { DataSource } from 'typeorm';
import { channelFields, useChannelPages } from '../support/channel-pages.js';
import { operatorVisit } from '../support/operator-visit.js';
import { jsonAnswer } from '../support/scripted-upstream.js';

const MAIN = 'chat-completions-main';
const FIRST = 'upstream-secret-of-chat-completions';
const SECOND = 'sk-second-secret-3Kq9-0a1b';
const THIRD = 'sk-third-secret-7Zp2-9c8d';
const SECRETS = [FIRST, SECOND, THIRD];

describe('credentials of channels', () => {
  const world = useChannelPages();

  const pathOf = async (name: string): Promise<string> => `/admin/channels/${(await world.named(name)).id}`;
  const endings = async (): Promise<unknown[]> => (await world.named(MAIN)).credentials.map(({ ending }) => ending);
  const sql = <Row>(text: string): Promise<Row[]> => world.relay.get(DataSource).query<Row[]>(text);
  const longAgo = (): Promise<unknown> => sql(`UPDATE sessions SET confirmed_at = now() - interval '16 minutes'`);

  it('can be added, replaced and removed one by one', async () => {
    const path = await pathOf(MAIN);
    expect(await endings()).toEqual(['ions']);
    const two = await world.operator.post(path, {
      ...channelFields(await world.operator.get(path)),
      _act: 'credential',
    });
    expect(two.text).toContain('Credential 2');
    await world.operator.post(path, { ...channelFields(two), secret: ['', SECOND] });
    expect(await endings()).toEqual(['ions', '0a1b']);
    await world.send(MAIN, { secret: ['', THIRD] });
    expect(await endings()).toEqual(['ions', '9c8d']);
    const dropped = await world.operator.post(path, {
      ...channelFields(await world.operator.get(path)),
      _act: 'drop:2',
    });
    expect(await endings()).toEqual(['ions', '9c8d']);
    await world.operator.post(path, channelFields(dropped));
    expect(await endings()).toEqual(['ions']);
    const lines = await sql<{ lines: string[] }>(`SELECT lines FROM audit_entries ORDER BY id`);
    expect(lines.flatMap((entry) => entry.lines)).toEqual([
      'credential 2 added',
      'credential 2 replaced',
      'credential 2 removed',
    ]);
  });

  it('survive the buttons of the form, encrypted for this session', async () => {
    const before = await endings();
    const path = await pathOf(MAIN);
    const fields = channelFields(await world.operator.get(path));
    const rowed = await world.operator.post(path, { ...fields, secret: SECOND, _act: 'row' });
    expect(rowed.text).toContain('Replaces the current one when you save.');
    const checked = await world.operator.post(path, { ...channelFields(rowed), _act: 'check' });
    const listed = await world.operator.post(path, { ...channelFields(checked), _act: 'models' });
    expect(world.relay.upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
      `Bearer ${SECOND}`,
      `Bearer ${SECOND}`,
    ]);
    const refused = await world.operator.post(path, { ...channelFields(listed), tier: 'none' });
    expect(refused.status).toBe(422);
    const kept = channelFields(refused);
    for (const page of [rowed, checked, listed, refused]) expect(page.text).not.toContain(SECOND);

    // Neither for another session, nor on another form.
    const other = (await operatorVisit(world.relay)).browser;
    await other.get(path);
    await other.post(path, { ...kept, tier: '1', _act: 'check' });
    await world.operator.post('/admin/channels/new', { ...kept, held: '', name: 'copied', _act: 'check' });
    const sent = world.relay.upstream.requests.slice(2).map(({ headers }) => headers['authorization']);
    expect(sent).toEqual([`Bearer ${FIRST}`]);

    await world.operator.post(path, { ...kept, tier: '1' });
    expect(await endings()).toEqual(['0a1b']);
    await world.send(MAIN, { secret: FIRST });
    expect(await endings()).toEqual(before);
  });

  it('require a recent sign-in to be changed or sent to another destination', async () => {
    const path = await pathOf(MAIN);
    const fields = channelFields(await world.operator.get(path));
    await longAgo();
    expect((await world.operator.get(path)).text).toContain('Your password');
    const rotated = await world.operator.post(path, { ...fields, secret: THIRD });
    expect([rotated.status, rotated.text.includes('Enter your password')]).toEqual([422, true]);
    for (const act of ['save', 'check', 'models']) {
      const elsewhere = { ...fields, baseUrl: 'http://127.0.0.1:9', _act: act };
      expect((await world.operator.post(path, elsewhere)).text).toContain('Enter your password');
    }
    // What a variable of the server's environment says is not known to whoever names it.
    for (const act of ['check', 'models'])
      expect((await world.operator.post(path, { ...fields, secret: 'env:HOME', _act: act })).text).toContain(
        'Enter your password',
      );
    // Nor is what somebody typed before.
    const typed = await world.operator.post(path, { ...fields, secret: THIRD, _act: 'row' });
    const again = await world.operator.post(path, { ...channelFields(typed), _act: 'check' });
    expect(again.text).toContain('Enter your password');
    expect(world.relay.upstream.requests).toEqual([]);
    expect((await world.operator.post(path, { ...fields, weight: '99' })).text).toContain('Enter your password');
    await sql('UPDATE sessions SET confirmed_at = now()');
  });

  it('require the password before they are deleted with their channel', async () => {
    const { id, name } = await world.named('responses-main');
    await longAgo();
    await world.operator.get(`/admin/channels/${id}/delete`);
    const refused = await world.operator.post(`/admin/channels/${id}/delete`, { confirm: name, password: '' });
    expect([refused.status, refused.text.includes('Enter your password')]).toEqual([422, true]);
    expect((await world.named(name)).credentials).toHaveLength(1);
    await sql('UPDATE sessions SET confirmed_at = now()');
  });

  it('never appear in pages, exports, audit entries, plain text in the database, or check results', async () => {
    const path = await pathOf(MAIN);
    const fields = channelFields(await world.operator.get(path));
    world.relay.upstream.script(jsonAnswer(401, { error: { message: `Incorrect key: ${SECOND}` } }));
    const checked = await world.operator.post(path, { ...fields, secret: SECOND, _act: 'check' });
    expect(checked.text).toMatch(/Rejected by the upstream: 401<.*Incorrect key: \[secret\]/s);
    const refused = await world.operator.post(path, { ...fields, secret: SECOND, tier: 'none' });
    await world.operator.post(path, { ...fields, secret: SECOND });
    const tables = await sql<{ name: string }>(
      `SELECT format('%I', table_name) AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const rows = await Promise.all(tables.map(({ name }) => sql(`SELECT to_jsonb(t) AS row FROM ${name} t`)));
    const pages = [checked, refused, await world.operator.get(path), await world.operator.get('/admin/channels')];
    const seen = [JSON.stringify(rows), await world.exported(), ...pages.map(({ text }) => text)].join('\n');
    expect(SECRETS.filter((secret) => seen.includes(secret))).toEqual([]);
  });
});
