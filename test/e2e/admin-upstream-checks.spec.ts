import { VENDORS } from '../conformance/protocols/index.js';
import { channelFields, useChannelPages } from '../support/channel-pages.js';
import type { PageResponse } from '../support/page-visitor.js';
import { errorResponse, jsonAnswer } from '../support/scripted-upstream.js';

const MAIN = 'chat-completions-main';
const LISTINGS = VENDORS.flatMap(({ id, listing }) => (listing === undefined ? [] : [[id, listing] as const]));
const SECOND = 'sk-second-secret-3Kq9-0a1b';

/** The upstream's names that a page offers to be ticked. */
const offeredBy = ({ text }: PageResponse): (string | undefined)[] =>
  [...text.matchAll(/name="_adopt" value="([^"]*)"/g)].map(([, name]) => name);

describe('upstream checks', () => {
  const world = useChannelPages();

  const ask = (act: string, fields: Record<string, string> = {}) => world.send(MAIN, { _act: act, ...fields });

  it('time a small call with unsaved values, and save nothing', async () => {
    const before = await world.exported();
    const checked = await ask('check', {
      secret: SECOND,
      upstream: 'vendor-unsaved',
      public: 'm',
      _checkModel: 'vendor-unsaved',
    });
    expect(checked.text).toMatch(/vendor-unsaved responded in [\d,]+ ms/);
    expect(checked.text).toMatch(/First byte [\d,]+ ms · 9 tokens in, 2 out/);
    expect(world.relay.upstream.requests.map(({ headers, json }) => [headers['authorization'], json])).toEqual([
      [`Bearer ${SECOND}`, expect.objectContaining({ model: 'vendor-unsaved' })],
    ]);
    expect(await world.exported()).toBe(before);
  });

  it('report that the upstream rejects the call or is unreachable', async () => {
    world.relay.upstream.script(errorResponse('chat-completions', 429));
    expect((await ask('check')).text).toMatch(/Rejected by the upstream: 429<[^]*, after [\d,]+ ms: /);
    world.relay.upstream.script(jsonAnswer(401, { error: { message: 'Incorrect API key provided. See our help..' } }));
    const rejected = await ask('check');
    expect(rejected.text).toContain('Rejected by the upstream: 401');
    expect(rejected.text).toContain(' ms: Incorrect API key provided. See our help. · ');
    world.relay.upstream.script(errorResponse('chat-completions', 503));
    expect((await ask('check')).text).toContain('Upstream error: 503');
    const nobody = await ask('check', { baseUrl: 'http://127.0.0.1:9/v1' });
    expect(nobody.text).toContain('No response from the upstream');
    expect(nobody.text).toContain('ECONNREFUSED');
  });

  it('report what a check needs', async () => {
    const checked = await ask('check', { public: '', upstream: '' });
    expect([checked.status, checked.text.includes('Add a model before running the check.')]).toEqual([422, true]);
  });

  it('list upstream models, and add rows for the selected ones', async () => {
    const data = ['vendor-b', 'vendor-m-2026', 'vendor-a'].map((id) => ({ id, object: 'model' }));
    world.relay.upstream.script(jsonAnswer(200, { object: 'list', data }));
    const listed = await ask('models');
    expect(offeredBy(listed)).toEqual(['vendor-a', 'vendor-b']);
    // The browser scrolls to it without a script.
    expect(listed.text).toMatch(/<fieldset[^>]* autofocus[^>]*><legend[^>]*>Upstream models not yet listed/);
    const adopted = await world.operator.post(`/admin/channels/${(await world.named(MAIN)).id}`, {
      ...channelFields(listed),
      _adopt: 'vendor-b',
      _act: 'adopt',
    });
    expect(channelFields(adopted)['upstream']).toContain('vendor-b');
    expect((await world.named(MAIN)).models).not.toHaveProperty('vendor-b');
  });

  it.each(LISTINGS)('list the models of a %s upstream', async (id, listing) => {
    world.relay.upstream.script(jsonAnswer(200, listing.body(['vendor-b', 'vendor-a'])));
    const listed = await world.add({
      protocol: id,
      baseUrl: world.relay.upstream.url,
      secret: SECOND,
      _act: 'models',
    });
    expect(offeredBy(listed)).toEqual(['vendor-a', 'vendor-b']);
    const [request, ...others] = world.relay.upstream.requests;
    expect([request?.method, request?.path, others]).toEqual(['GET', '/v1/models', []]);
    expect(
      Object.values(request?.headers ?? {})
        .flat()
        .join(),
    ).toContain(SECOND);
    listing.expectRequest({
      path: '/models',
      query: request?.query ?? new URLSearchParams(),
      headers: (request?.headers ?? {}) as Record<string, string>,
    });
  });

  it('add and remove model rows without losing typed values', async () => {
    const more = channelFields(await ask('row', { name: 'half typed' }));
    expect([more['name'], more['public']?.at(-1)]).toEqual(['half typed', '']);
    const path = `/admin/channels/${(await world.named(MAIN)).id}`;
    const less = channelFields(await world.operator.post(path, { ...more, _act: 'remove:1' }));
    expect(less['public']).toEqual([...(more['public'] ?? [])].slice(1));
  });
});
