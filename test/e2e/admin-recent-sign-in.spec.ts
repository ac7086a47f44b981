import { DataSource } from 'typeorm';
import { SignInProviders } from '../../src/auth/index.js';
import { CatalogExport } from '../../src/catalog/channels/index.js';
import { TokenIssuers } from '../../src/keys/index.js';
import { Organizations } from '../../src/keys/organizations/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { turnOnSecondFactor } from '../support/authenticator.js';
import { fieldsSentTo } from '../support/channel-pages.js';
import { forgetSignIn, OPERATOR_PASSWORD, operatorVisit, type OperatorVisit } from '../support/operator-visit.js';
import type { PageResponse } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { routesOf } from '../support/routes.js';
import { signedIn } from '../support/signed-in.js';

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** Forms that have the field themselves: the page that shows each, what is entered, and where it is sent if elsewhere. */
const OWN_FIELD: Readonly<Record<string, { page: string; fields: Fields; to?: string }>> = {
  'POST /admin/channels/:id': { page: '/admin/channels/:channel', fields: { weight: '99' } },
  'POST /admin/channels/:id/delete': {
    page: '/admin/channels/:channel/delete',
    fields: { confirm: 'messages-main' },
  },
  'POST /admin/channels/new': {
    page: '/admin/channels/new',
    fields: { name: 'other', baseUrl: 'http://127.0.0.1:9', auth: 'none', public: 'm' },
  },
  'POST /admin/codes/new': { page: '/admin/codes/new', fields: { amount: '5', count: '1' } },
  // The first step asks as well where the key is in the server's environment.
  'POST /admin/models/add': { page: '/admin/models/add', fields: { provider: 'openai', secret: 'env:OPENAI_KEY' } },
  'POST /admin/organizations/:id/allowance': {
    page: '/admin/organizations/:org/allowance',
    fields: { amount: '5' },
  },
  'POST /admin/organizations/:id/balance': {
    page: '/admin/organizations/:org/balance',
    fields: { amount: '5', reason: 'test' },
  },
  'POST /admin/organizations/:id/delete': { page: '/admin/organizations/:org/delete', fields: { confirm: 'Acme' } },
  'POST /admin/organizations/new': { page: '/admin/organizations/new', fields: { name: 'Bolt', owner: ':email' } },
  'POST /admin/settings/mail': {
    page: '/admin/settings/mail',
    fields: { server: 'smtp://mail.example', from: 'relay@mail.example' },
  },
  'POST /admin/settings/payment': { page: '/admin/settings/payment', fields: {} },
  'POST /admin/settings/providers/:name': {
    page: '/admin/settings/providers/acme',
    fields: { label: 'Other' },
  },
  'POST /admin/settings/providers/:name/claims': {
    page: '/admin/settings/providers/acme/claims',
    fields: { scopes: 'groups' },
  },
  'POST /admin/settings/providers/new': {
    page: '/admin/settings/providers/new',
    fields: {
      name: 'new-one',
      label: 'New',
      issuer: 'https://login.example',
      clientId: 'relay',
      clientSecret: 'secret',
    },
  },
  'POST /admin/settings/sign-up': { page: '/admin/settings/sign-up', fields: {} },
  'POST /admin/settings/token-issuers/:id': {
    page: '/admin/settings/token-issuers/:issuer',
    fields: { name: 'Other' },
  },
  'POST /admin/settings/token-issuers/new': {
    page: '/admin/settings/token-issuers/new',
    fields: { name: 'New', issuer: 'https://login.example', audience: 'relay' },
  },
  'POST /admin/users/:id/allowance': { page: '/admin/users/:user/allowance', fields: { amount: '5' } },
  'POST /admin/users/:id/balance': {
    page: '/admin/users/:user/balance',
    fields: { amount: '5', reason: 'test' },
  },
  'POST /admin/users/:id/delete': { page: '/admin/users/:user/delete', fields: { confirm: ':email' } },
  'POST /admin/users/:id/role': {
    page: '/admin/users/:user',
    fields: { role: 'admin' },
    to: '/admin/users/:user/role',
  },
  'POST /admin/users/:id/second-factor': { page: '/admin/users/:user/second-factor', fields: {} },
  'POST /admin/users/new': { page: '/admin/users/new', fields: { email: 'new@example.com' } },
};

/** Why the password is not asked for. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'POST /admin/codes/csv': 'writes as a file what the browser sent, and changes nothing',
  'POST /admin/payments/:id': 'notes what was done about a payment, and moves no money',
  'POST /admin/settings/mail/test': 'sends one message to the administrator',
  'POST /admin/settings/site': 'name, contact and terms of the site, recorded in the audit log',
  'POST /admin/users/:id/sessions/:session/end': 'ends access and grants none',
  'POST /admin/users/:id/sessions/end': 'ends access and grants none',
};

describe('a recent sign-in', () => {
  let relay: RelayApp;
  let operator: OperatorVisit;
  let ann: TestCaller;
  let values: Readonly<Record<string, string>>;
  const forget = (): Promise<void> => forgetSignIn(relay, operator.accountId);
  const exported = async (): Promise<string> => (await relay.get(CatalogExport).export()).text;
  const audited = async (): Promise<number> =>
    (await relay.get(DataSource).query<unknown[]>('SELECT 1 FROM audit_entries')).length;

  beforeAll(async () => {
    relay = await RelayApp.start();
    operator = await operatorVisit(relay);
    ann = await relay.caller();
    await relay.get(SignInProviders).add({
      name: 'acme',
      label: 'Acme',
      issuer: 'https://login.acme.example',
      clientId: 'relay',
      clientSecret: new Secret('secret'),
      linksByEmail: false,
    });
    const [channel] = await relay
      .get(DataSource)
      .query<{ id: string }[]>(`SELECT id FROM channels WHERE name = 'messages-main'`);
    const issuer = await relay.get(TokenIssuers).add({
      name: 'Acme CI',
      issuer: 'https://token.acme.example',
      audience: 'relay',
      jwksUri: undefined,
      algorithms: ['RS256'],
      requiredClaims: [],
      maxLifetimeHours: 1,
      holder: 'account',
      matchedBy: 'identity',
      claim: 'sub',
      organizationId: undefined,
      teamId: undefined,
    });
    const { id: org } = await relay.get(Organizations).open({ ownerId: ann.accountId, name: 'Acme' });
    values = { org, issuer, channel: channel!.id, user: ann.accountId, email: ann.email, key: ann.keyId };
  });
  afterAll(() => relay.close());
  beforeEach(forget);

  const filled = (text: string): string =>
    text.replaceAll(/:(channel|user|email|key|org|issuer)\b/g, (_, name: string) => values[name] ?? '');
  const keyPath = (what: string): string => `/admin/users/${ann.accountId}/keys/${ann.keyId}/${what}`;

  it('is required by all admin forms that change something, except for listed ones', () => {
    const forms = routesOf(relay).filter(({ name }) => name.startsWith('POST /admin/'));
    const unprotected = forms.filter(({ name, requiresRecentSignIn }) => !requiresRecentSignIn && !(name in OWN_FIELD));
    expect(unprotected.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXCEPTIONS));
    expect(forms.filter(({ name, requiresRecentSignIn }) => requiresRecentSignIn && name in OWN_FIELD)).toEqual([]);
  });

  it('is required before a form without a password field is validated', async () => {
    const forms = routesOf(relay).filter((route) => route.requiresRecentSignIn);
    expect(forms.length).toBeGreaterThan(15);
    await operator.browser.get('/admin/users');
    const before = await audited();
    for (const { name } of forms) {
      const path = name.slice('POST '.length).replaceAll(/:\w+|\*/g, 'some');
      const requested = await operator.browser.post(path);
      expect({ name, status: requested.status, asks: requested.text.includes('name="password"') }).toEqual({
        name,
        status: 200,
        asks: true,
      });
    }
    expect(await audited()).toBe(before);
  });

  it('uses a separate page only for forms without secrets, and carries their fields', async () => {
    const isProtected = routesOf(relay)
      .filter((route) => route.requiresRecentSignIn)
      .map(({ name }) => new RegExp(`^${name.slice('POST '.length).replaceAll(/:\w+|\*/g, '[^/]+')}$`));
    const pages = [
      'channels/:channel',
      'models/new',
      'models/m',
      'groups/new',
      'groups/saver',
      'users/:user',
      'settings/mail',
      'settings/retention',
      'settings/limits',
    ];
    const forms: { action: string; hasSecret: boolean }[] = [];
    for (const page of [...pages, 'users/:user/keys/:key'].map((path) => filled(`/admin/${path}`))) {
      const { text } = await operator.browser.get(page);
      for (const [form] of text.matchAll(/<form[^]*?<\/form>/g))
        forms.push({
          action: / action="([^"]*)"/.exec(form)?.[1] ?? page,
          hasSecret: form.includes('type="password"'),
        });
    }
    const found = forms.filter(({ action }) => isProtected.some((path) => path.test(action)));
    expect(new Set(found.map(({ action }) => action)).size).toBeGreaterThan(9);
    expect(found.filter(({ hasSecret }) => hasSecret)).toEqual([]);
    // Others have some, so that this would be noticed.
    expect(forms.filter(({ hasSecret }) => hasSecret).length).toBeGreaterThan(2);
  });

  it('is required by all forms with a password field', async () => {
    await turnOnSecondFactor(await signedIn(relay, ann.accountId));
    const before = [await audited(), await exported()];
    for (const [name, { page, fields, to }] of Object.entries(OWN_FIELD)) {
      const path = filled(to ?? page);
      const shown = await operator.browser.get(filled(page));
      const typed = Object.entries(fields).map(([field, value]) => [field, filled(String(value))]);
      const sent = { ...fieldsSentTo(path, shown), ...Object.fromEntries(typed) };
      const first = await operator.browser.post(path, sent);
      // A form that first shows what it leads to is sent once more.
      const refused = first.status === 200 ? await operator.browser.post(path, fieldsSentTo(path, first)) : first;
      expect({ name, status: refused.status, asks: refused.text.includes('Enter your password') }).toEqual({
        name,
        status: 422,
        asks: true,
      });
    }
    expect([await audited(), await exported()]).toEqual(before);
  });

  /** Enters a password on the page that asks for it. */
  const confirm = (path: string, requested: PageResponse, password: string): Promise<PageResponse> =>
    operator.browser.post(path, { ...fieldsSentTo(path, requested), password });

  it('keeps what was typed, and is not required again', async () => {
    const groups = { page: '/admin/groups/saver', to: '/admin/groups/saver' };
    const shown = await operator.browser.get(groups.page);
    const sent = {
      ...fieldsSentTo(groups.to, shown),
      multiplier: '0.7',
      factorOf: ['m', 'free'],
      factor: ['0.5', '2'],
      reason: 'a “sale”',
    };
    const requested = await operator.browser.post(groups.to, sent);
    expect(await exported()).toContain('multiplier: 0.8');
    const wrong = await confirm(groups.to, requested, 'not it, not at all');
    expect(wrong.status).toBe(422);
    expect(wrong.text).toMatch(/id="password-error"/);
    expect(await exported()).toContain('multiplier: 0.8');
    const saved = await confirm(groups.to, wrong, OPERATOR_PASSWORD);
    expect(saved).toMatchObject({ status: 303, location: '/admin/groups/saver' });
    expect(await exported()).toMatch(/name: saver\n {4}multiplier: 0.7\n {4}models: \{ m: 0.5, free: 2 \}/);
    const [entry] = await relay
      .get(DataSource)
      .query(`SELECT actor_name, reason FROM audit_entries WHERE object_id = 'saver' ORDER BY id DESC LIMIT 1`);
    expect(entry).toEqual({ actor_name: operator.email, reason: 'a “sale”' });
    expect((await operator.browser.submit(`/admin/users/${ann.accountId}`, {}, keyPath('disable'))).status).toBe(303);
  });

  it('returns to the form when it has errors', async () => {
    const path = '/admin/groups/new';
    const requested = await operator.browser.submit(path, { name: 'team', multiplier: 'half', choice: 'everyone' });
    const refused = await confirm(path, requested, OPERATOR_PASSWORD);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('id="multiplier-error"');
    expect(refused.text).toContain('value="team"');
  });

  it('returns to the previous page when canceled, and never to another site', async () => {
    await operator.browser.get('/admin/users');
    const from = (referer: string): Promise<PageResponse> => operator.browser.post(keyPath('delete'), {}, { referer });
    const requested = await from(`${relay.url}/admin/users?page=2`);
    expect(requested.text).toMatch(/href="\/admin\/users\?page(=|&#x3D;)2">Cancel/);
    expect((await from('https://elsewhere.example//evil.example/')).text).toContain('href="/">Cancel');
    expect((await confirm(keyPath('delete'), requested, 'wrong')).text).toMatch(/page(=|&#x3D;)2">Cancel/);
  });

  it('is not required for a price preview', async () => {
    for (const path of ['/admin/groups/saver', '/admin/models/m']) {
      const sent = fieldsSentTo(path, await operator.browser.get(path));
      const preview = await operator.browser.post(path, { ...sent, _act: 'recalculate' });
      expect([preview.status, preview.text.includes('name="password"')]).toEqual([200, false]);
    }
  });

  it('is required before a user is suspended', async () => {
    const { id } = await relay.get(Onboarding).createAccount({ email: 'bob@example.com' });
    const stateOf = async (): Promise<string | undefined> =>
      (await relay.get(DataSource).query<{ state: string }[]>('SELECT state FROM accounts WHERE id = $1', [id]))[0]
        ?.state;
    const path = `/admin/users/${id}/suspend`;
    const requested = await operator.browser.submit(`/admin/users/${id}`, {}, path);
    expect(await stateOf()).toBe('enabled');
    expect((await confirm(path, requested, OPERATOR_PASSWORD)).location).toBe(`/admin/users/${id}`);
    expect(await stateOf()).toBe('disabled');
  });
});
