/** Every page and API route, asked by everyone: nothing of an organization leaks to, or is changed by, who may not. */

import type { Permission } from '../../src/auth/index.js';
import { eventually } from '../support/eventually.js';
import { EMPTY } from '../support/key-pages.js';
import { type Belongings, OrganizationWorld, type Reader, READERS } from '../support/organization-world.js';
import type { PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { type Route, routesOf } from '../support/routes.js';

/** Who has a permission, as the roles are documented. */
const HOLDERS: Readonly<Record<Permission, readonly Reader[]>> = {
  'view organization': ['owner', 'admin', 'billing', 'viewer'],
  'manage organization': ['owner', 'admin'],
  'own organization': ['owner'],
  'view wallet': ['owner', 'admin', 'billing', 'viewer'],
  'manage wallet': ['owner', 'admin', 'billing'],
  'view all usage': ['owner', 'admin', 'billing', 'viewer'],
  'view all keys': ['owner', 'admin', 'viewer'],
  'use keys': ['owner', 'admin', 'member'],
  'manage all keys': ['owner', 'admin'],
};

/** In an organization, one of these is required. */
type Expectation = readonly Permission[];

const READ_KEYS: Expectation = ['use keys', 'view all keys'];
const READ_CALLS: Expectation = ['use keys', 'view all usage'];
const MANAGE: Expectation = ['manage organization'];
/** Members, who may not view the organization, may view what concerns themselves. */
const ANY_MEMBER: Expectation = ['view organization', 'use keys'];

/** What pages require that show or change what belongs to the scope. A new page is added here, or to `PERSONAL`. */
const EXPECTED: Readonly<Record<string, Expectation>> = {
  'GET /account/alerts': ['view wallet'],
  'POST /account/alerts': ['manage wallet'],
  'GET /keys': READ_KEYS,
  'GET /keys/:id': READ_KEYS,
  'GET /keys/:id/delete': ['use keys'],
  'GET /keys/:id/edit': ['use keys'],
  'GET /keys/:id/leaked': ['use keys'],
  'GET /keys/new': ['use keys'],
  'GET /keys/selected/delete': ['use keys'],
  'GET /keys/selected/edit': ['use keys'],
  'POST /keys/:id/delete': ['use keys'],
  'POST /keys/:id/disable': ['use keys'],
  'POST /keys/:id/edit': ['use keys'],
  'POST /keys/:id/enable': ['use keys'],
  'POST /keys/:id/leaked': ['use keys'],
  'POST /keys/:id/notices/:notice': ['use keys'],
  'POST /keys/:id/raise': ['use keys'],
  'POST /keys/:id/replace': ['use keys'],
  'POST /keys/new': ['use keys'],
  'POST /keys/selected': ['use keys'],
  'POST /keys/selected/delete': ['use keys'],
  'POST /keys/selected/edit': ['use keys'],
  'GET /playground': ['use keys'],
  'GET /playground/calls/:id': ['use keys'],
  'POST /playground': ['use keys'],
  'POST /playground/preview': ['use keys'],
  'POST /playground/stream': ['use keys'],
  'GET /usage-logs/common': READ_CALLS,
  'GET /usage-logs/common.csv': READ_CALLS,
  'GET /usage-logs/common/:id': READ_CALLS,
  'POST /usage-logs/common/:id/forget': ['use keys'],
  'GET /wallet': ['view wallet'],
  'GET /wallet/consumption.csv': ['view wallet'],
  'GET /wallet/payments/:id': ['view wallet'],
  'GET /wallet/top-ups.csv': ['view wallet'],
  'POST /wallet': ['manage wallet'],
  'POST /wallet/payments': ['manage wallet'],
  'GET /organization': ANY_MEMBER,
  'GET /organization/members': ['view organization'],
  'GET /organization/members/:id': ['view organization'],
  'GET /organization/members/:id/remove': MANAGE,
  'GET /organization/members/invite': MANAGE,
  'GET /organization/settings': ANY_MEMBER,
  'GET /organization/teams': ['view organization'],
  'GET /organization/teams/:id': ['view organization'],
  'GET /organization/teams/:id/delete': MANAGE,
  'GET /organization/teams/new': MANAGE,
  'POST /organization/members/:id/limits': MANAGE,
  'POST /organization/members/:id/remove': MANAGE,
  'POST /organization/members/:id/role': MANAGE,
  'POST /organization/members/invitations/:id/resend': MANAGE,
  'POST /organization/members/invitations/:id/withdraw': MANAGE,
  'POST /organization/members/invite': MANAGE,
  'POST /organization/settings/defaults': MANAGE,
  'POST /organization/settings/delete': ['own organization'],
  'POST /organization/settings/leave': ANY_MEMBER,
  'POST /organization/settings/name': MANAGE,
  'POST /organization/settings/transfer': ['own organization'],
  'POST /organization/settings/transfer/accept': ANY_MEMBER,
  'POST /organization/settings/transfer/decline': ANY_MEMBER,
  'POST /organization/settings/transfer/withdraw': ['own organization'],
  'POST /organization/teams/:id': MANAGE,
  'POST /organization/teams/:id/delete': MANAGE,
  'POST /organization/teams/new': MANAGE,
};

/** Pages of the person, whatever they work in; the search shows what each may see. */
const PERSONAL: readonly string[] = [
  'GET /account',
  'GET /account/close',
  'GET /account/confirm',
  'GET /account/data/account.json',
  'GET /account/data/calls.csv',
  'GET /account/email',
  'GET /account/passkeys/:id',
  'GET /account/password',
  'GET /account/second-factor/off',
  'GET /account/second-factor/recovery-codes',
  'GET /account/sign-in-methods/link',
  'GET /organizations',
  'GET /search',
  'POST /account/close',
  'POST /account/email',
  'POST /account/email/confirm',
  'POST /account/email/resend',
  'POST /account/passkeys/:id',
  'POST /account/passkeys/:id/delete',
  'POST /account/password',
  'POST /account/profile',
  'POST /account/second-factor/off',
  'POST /account/second-factor/recovery-codes',
  'POST /account/sessions/:id/end',
  'POST /account/sessions/others/end',
  'POST /account/sign-in-methods/:id/unlink',
  'POST /account/sign-in-methods/link',
  'POST /organizations',
  'POST /organizations/invitations/:id/accept',
  'POST /organizations/invitations/:id/decline',
  'POST /scope',
];

/** What a form needs to have an effect, if it is allowed. */
const FIELDS: Readonly<Record<string, (thing: Belongings) => Record<string, string>>> = {
  'POST /keys/new': () => ({ ...EMPTY, name: 'marker-made', holder: 'service', _once: once() }),
  'POST /keys/selected': ({ key }) => ({ id: key, _act: 'disable' }),
  'POST /keys/selected/delete': ({ key }) => ({ id: key, confirm: '1' }),
  'POST /keys/selected/edit': ({ key }) => ({ id: key, quota: '3' }),
  'POST /keys/:id/edit': () => ({ ...EMPTY, name: 'marker-changed', version: '1' }),
  'POST /keys/:id/delete': ({ markers }) => ({ confirm: markers[0] ?? '' }),
  'POST /keys/:id/raise': () => ({ quota: '1' }),
  'POST /keys/:id/replace': () => ({ name: 'marker-replaced', _once: once() }),
  'POST /wallet': () => ({ code: '0A1B-2C3D', _once: once() }),
  'POST /wallet/payments': () => ({ amount: '10', _once: once() }),
  'POST /account/alerts': () => ({ walletBelow: '77' }),
  'POST /organization/members/:id/limits': () => ({ ...BUDGETS, maxKeys: '9', version: '1' }),
  'POST /organization/members/:id/remove': () => ({ keys: 'disable' }),
  'POST /organization/members/:id/role': () => ({ role: 'admin', team: '' }),
  'POST /organization/members/invite': () => ({ email: 'new@example.com', role: 'admin', team: '', _once: once() }),
  'POST /organization/settings/defaults': () => ({ ...BUDGETS, maxKeys: '9' }),
  'POST /organization/settings/delete': () => ({ confirm: 'marker-organization' }),
  'POST /organization/settings/name': () => ({ name: 'marker-renamed' }),
  'POST /organization/settings/transfer': ({ member }) => ({ member }),
  'POST /organization/teams/:id': () => ({ ...BUDGETS, name: 'marker-other', networks: '', version: '1' }),
  'POST /organization/teams/new': () => ({ ...BUDGETS, name: 'marker-new', networks: '', _once: once() }),
  'POST /playground': ({ key }) => ({ ...MESSAGE, key }),
  'POST /playground/preview': ({ key }) => ({ ...MESSAGE, key }),
  'POST /playground/stream': ({ key }) => ({ ...MESSAGE, key }),
};
const BUDGETS = { lifetime: '', daily: '1', weekly: '', monthly: '' };
const MESSAGE = { protocol: 'chat-completions', model: 'fee', message: 'Hello', turns: '[]' };

/** Whether the page is about a key, a call, a member … */
const isOfThing = (name: string): boolean => /:|selected/.test(name);

let forms = 0;
const once = (): string => String(++forms).padStart(22, 'n');
const OUTSIDERS: readonly Reader[] = ['former member', 'member of another organization', 'nobody'];

describe('an organization', () => {
  let relay: RelayApp;
  let world: OrganizationWorld;
  let routes: readonly Route[];

  beforeAll(async () => {
    relay = await RelayApp.start();
    routes = routesOf(relay).filter(({ access }) => access !== undefined && access !== 'administrator');
    world = await OrganizationWorld.make(relay);
    const calls = () => relay.calls({ accountId: world.acme, email: '', keyId: '', key: '' });
    await eventually(async () => expect(await calls()).toHaveLength(4));
  });
  afterAll(() => relay.close());

  const things = (): readonly Belongings[] => Object.values(world.things);
  const owns = (reader: Reader, thing: Belongings): boolean => reader === 'member' && thing === world.things.member;
  const mayOpen = (reader: Reader, name: string): boolean =>
    (EXPECTED[name] ?? []).some((permission) => HOLDERS[permission].includes(reader));
  /** Whether all keys and calls are theirs to see, or on pages of forms to change. */
  const hasAll = (reader: Reader, name: string): boolean => {
    const isChange = EXPECTED[name]?.length === 1;
    const everything = isChange ? 'manage all keys' : name.includes('usage') ? 'view all usage' : 'view all keys';
    return HOLDERS[everything].includes(reader);
  };
  const pathOf = (name: string, thing: Belongings): string =>
    (name.split(' ')[1] ?? '')
      .replace('/keys/:id', `/keys/${thing.key}`)
      .replace('/wallet/payments/:id', `/wallet/payments/${world.payment}`)
      .replace('/members/:id', `/members/${thing.member}`)
      .replace('/invitations/:id', '/invitations/minv_1')
      .replace('/teams/:id', '/teams/team_1')
      .replace(/(?<=usage-logs\/common|calls)\/:id/, `/${thing.call}`)
      .replace(':notice', thing.notice)
      .replace(/(?<=selected\/(?:edit|delete))$/, `?id=${thing.key}`)
      .replaceAll(/:\w+|\*/g, 'some');
  const expectNothingHidden = (
    reader: Reader,
    asked: string,
    { text, headers }: PageResponse,
    typed: Readonly<Record<string, string>> = {},
  ): void => {
    // What was sent comes back: the address as the page to return to, and the fields of a form with an error.
    const own = [asked, encodeURIComponent(asked), ...Object.values(typed).filter((value) => value !== '')].reduce(
      (rest, value) => rest.replaceAll(value, ''),
      `${text} ${JSON.stringify([...headers])}`,
    );
    expect({ asked, reader, leaked: world.hiddenFrom(reader).filter((marker) => own.includes(marker)) }).toEqual({
      asked,
      reader,
      leaked: [],
    });
  };

  it('has an expectation for every page that requires signing in, which is what the page declares', () => {
    const pages = routes.filter(({ access }) => access === 'signed-in');
    const declared = pages.map(({ name, allows }) => [name, allows?.toSorted()]);
    const expected = [
      ...Object.entries(EXPECTED).map(([name, permissions]) => [name, permissions.toSorted()]),
      ...PERSONAL.map((name) => [name, undefined]),
    ];
    const byName = (one: readonly unknown[], other: readonly unknown[]): number =>
      String(one[0]) < String(other[0]) ? -1 : 1;
    expect(declared.toSorted(byName)).toEqual(expected.toSorted(byName));
    expect(routes.filter(({ access, allows }) => access !== 'signed-in' && allows !== undefined)).toEqual([]);
  });

  it.each(READERS)('shows %s no more than they may see, on any page', async (reader) => {
    const browser = world.browser(reader);
    for (const { name } of routes.filter((route) => route.name.startsWith('GET ')))
      for (const thing of isOfThing(name) ? things() : [world.things.colleague]) {
        const path = pathOf(name, thing);
        const response = await browser.get(path);
        expectNothingHidden(reader, path, response);
        if (EXPECTED[name] === undefined) continue;
        expect({ path, reader, status: response.status }).toEqual({
          path,
          reader,
          status: statusFor(reader, name, thing),
        });
      }
  });

  /** Of a page with this thing's ID. */
  function statusFor(reader: Reader, name: string, thing: Belongings): number {
    if (reader === 'nobody') return 303;
    // Without an organization, its pages lead to the list of those that there are.
    if (reader === 'former member' && name.includes('/organization')) return 303;
    if (OUTSIDERS.includes(reader)) return isOfThing(name) ? 404 : 200;
    if (!mayOpen(reader, name)) return 403;
    if (name.includes('/members/:id')) return thing.isOfMember ? 200 : 404;
    if (!isOfThing(name) || /payments|teams/.test(name)) return 200;
    // The playground is for the reader's own keys, whatever else they may see.
    if (name.includes('playground')) return owns(reader, thing) ? 200 : 404;
    return hasAll(reader, name) || owns(reader, thing) ? 200 : 404;
  }

  it('is found in lists, exports and the search by those who may see it', async () => {
    const seen = async (reader: Reader, path: string, marker: string): Promise<boolean> =>
      (await world.browser(reader).get(path)).text.includes(marker);
    const { colleague, member, service } = world.things;
    for (const [path, marker] of [
      ['/keys', 'marker-key-colleague'],
      ['/usage-logs/common', 'marker-name-colleague'],
      ['/usage-logs/common', 'marker-key-service (service key)'],
      ['/usage-logs/common.csv', `${colleague.call},`],
      [`/usage-logs/common/${colleague.call}`, 'marker-team'],
      ['/search?q=marker-key-', 'marker-key-service'],
      [`/search?q=${service.call}`, `/usage-logs/common/${service.call}`],
      ['/', 'marker-key-colleague'],
      ['/wallet', '7,341'],
    ] as const)
      expect({ path, seen: await seen('admin', path, marker) }).toEqual({ path, seen: true });
    expect(await seen('member', '/keys', 'marker-key-member')).toBe(true);
    expect(await seen('member', '/usage-logs/common.csv', member.call)).toBe(true);
    expect(await seen('member', `/search?q=${member.call}`, `/usage-logs/common/${member.call}`)).toBe(true);
    expect(await seen('billing', '/search?q=marker-key-', '/keys/')).toBe(false);
  });

  it.each(READERS)('is not changed by %s through any form that they may not send', async (reader) => {
    const browser = world.browser(reader);
    await browser.get(reader === 'nobody' ? '/sign-in' : '/account');
    const before = await world.state();
    let sent = 0;
    for (const [name] of Object.entries(EXPECTED).filter(([route]) => route.startsWith('POST ')))
      for (const thing of things()) {
        const isKey = /keys\/(:id|selected)|forget|playground/.test(name);
        const isTheirs =
          isKey && (name.includes('playground') ? owns(reader, thing) : hasAll(reader, name) || owns(reader, thing));
        if (mayOpen(reader, name) && (isTheirs || !isKey) && !(name === 'POST /keys/new' && reader === 'member'))
          continue;
        const path = pathOf(name, thing);
        const fields = FIELDS[name]?.(thing) ?? {};
        const response = await browser.post(path, fields);
        sent += 1;
        expectNothingHidden(reader, path, response, fields);
        // Those without an ID in the address answer with a page, or with a message on the next one.
        if (!/playground|selected/.test(name) && !(OUTSIDERS.includes(reader) && !name.includes(':id')))
          expect({ path, reader, refused: [303, 403, 404].includes(response.status) && !isDone(response) }).toEqual({
            path,
            reader,
            refused: true,
          });
      }
    expect(await world.state()).toBe(before);
    expect(sent).toBeGreaterThan(reader === 'owner' || reader === 'admin' ? 3 : 20);
  });

  /** Forms that had an effect lead to its page; others lead to the sign-in, or to the organizations that there are. */
  const isDone = ({ status, location }: PageResponse): boolean =>
    status === 303 && !/^\/(sign-in|organizations)/.test(location);

  it('gives API keys the calls of their own holder only, and members no balance', async () => {
    const keys = { ...world.things, stranger: { secret: world.strangersKey } };
    const get = async (secret: string, path: string): Promise<{ status: number; text: string }> => {
      const response = await fetch(`${relay.url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
      return { status: response.status, text: await response.text() };
    };
    for (const [holder, { secret }] of Object.entries(keys))
      for (const [owner, { call }] of Object.entries(world.things)) {
        const { status } = await get(secret, `/v1/generations/${call}`);
        const expected = holder === 'former' ? 401 : holder === owner ? 200 : 404;
        expect({ holder, owner, status }).toEqual({ holder, owner, status: expected });
      }
    const balance = await world.balance();
    for (const holder of ['member', 'service'] as const) {
      const { text } = await get(world.things[holder].secret, '/v1/key');
      expect(JSON.parse(text)).toMatchObject({ name: `marker-key-${holder}`, wallet: null });
      expect(text).not.toContain(balance);
    }
  });

  it('gives no API key the stored state of another holder, on any route with an ID', async () => {
    const api = routesOf(relay).filter(({ name, takesKey }) => takesKey && /:|\*$/.test(name));
    expect(api.length).toBeGreaterThan(10);
    const holders = [world.things.member.secret, world.things.service.secret, world.strangersKey];
    const { response, call } = world.things.colleague;
    for (const { name } of api)
      for (const secret of holders) {
        const [method = '', path = ''] = name.split(' ');
        const address = path.replaceAll(/:\w+|\*/g, path.includes('generations') ? call : response);
        const init = { method: method === 'ALL' ? 'GET' : method, headers: { authorization: `Bearer ${secret}` } };
        const answer = await fetch(`${relay.url}${address}`, init);
        const text = await answer.text();
        expect({ name, status: answer.status, leaks: /marker-/.test(text) }).toMatchObject({ name, leaks: false });
        expect({ name, ok: answer.ok && /responses|conversations|generations/.test(name) }).toEqual({
          name,
          ok: false,
        });
      }
    const own = await fetch(`${relay.url}/v1/responses/${response}`, {
      headers: { authorization: `Bearer ${world.things.colleague.secret}` },
    });
    expect([own.status, await own.text()]).toEqual([200, expect.stringContaining('marker-answer-colleague')]);
  });

  it('is changed by the same forms when an admin sends them', async () => {
    const browser = world.browser('admin');
    for (const [name] of Object.entries(EXPECTED).filter(([route]) => /^POST \/(keys|usage)/.test(route))) {
      const { id, secret } = await world.spareKey();
      const spare = { ...world.things.colleague, key: id, secret, markers: ['spare'] };
      await browser.get('/keys');
      const before = await world.state();
      const response = await browser.post(pathOf(name, spare), FIELDS[name]?.(spare) ?? {});
      expect({ name, status: response.status }).toEqual({
        name,
        status: name === 'POST /keys/new' || name.endsWith('replace') ? 200 : 303,
      });
      // The notice is of another key.
      const isChanged = !name.includes('notices');
      expect({ name, changed: (await world.state()) !== before }).toEqual({ name, changed: isChanged });
    }
  });
});
