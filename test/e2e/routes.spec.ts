import type { Access } from '../../src/console/access/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { operatorVisit } from '../support/operator-visit.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { type Route, routesOf } from '../support/routes.js';

/** Every address that is no page and takes no key, and why nobody's visit is looked at there. */
const OTHERS: Readonly<Record<string, string>> = {
  HealthController: 'probes of machines',
  MetricsController: 'a token, or this machine',
  WebhookController: 'what the payment provider has signed',
  ProviderLogoutController: 'what a sign-in provider has signed',
  AssetsController: 'the same for everybody',
  FallbackController: 'everything that nothing else answers',
};

/** Who may visit what. A new page is added here by whoever has thought about it. */
const PAGES: Readonly<Record<Access, readonly string[]>> = {
  public: [
    'GET /',
    'GET /docs',
    'GET /docs/:name',
    'GET /docs/openapi.json',
    'GET /pricing',
    'GET /status',
    'GET /pricing/*',
    'GET /forgot',
    'GET /join',
    'GET /register',
    'GET /register/provider',
    'GET /reset',
    'GET /sign-in',
    'GET /sign-in/code',
    'GET /sign-in/with/:name',
    'GET /sign-in/with/:name/callback',
    'GET /terms',
    'GET /verify',
    'GET /verify/link',
    'POST /flash/dismiss',
    'POST /forgot',
    'POST /register',
    'POST /register/provider',
    'POST /reset',
    'POST /reset/renew',
    'POST /sign-in',
    'POST /sign-in/code',
    'POST /sign-in/code/passkey',
    'POST /sign-in/code/passkey/options',
    'POST /sign-in/passkey',
    'POST /sign-in/passkey/options',
    'POST /sign-out',
    'POST /theme',
    'POST /verify',
    'POST /verify/link',
    'POST /verify/link/renew',
    'POST /verify/resend',
  ],
  'temporary-password': ['GET /choose-password', 'POST /choose-password'],
  unverified: ['GET /verify/address', 'POST /verify/address'],
  'second-factor': [
    'GET /account/passkeys/new',
    'POST /account/passkeys',
    'POST /account/passkeys/new',
    'POST /account/passkeys/options',
    'GET /account/second-factor',
    'POST /account/second-factor',
    'POST /account/second-factor/on',
    'POST /account/second-factor/recovery-codes/file',
  ],
  'signed-in': [
    'GET /account',
    'GET /account/alerts',
    'GET /account/close',
    'GET /account/confirm',
    'GET /account/data/account.json',
    'GET /account/data/calls.csv',
    'GET /account/email',
    'GET /account/passkeys/:id',
    'GET /account/password',
    'GET /account/sign-in-methods/link',
    'POST /account/alerts',
    'POST /account/close',
    'GET /account/second-factor/off',
    'GET /account/second-factor/recovery-codes',
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
    'POST /account/sign-in-methods/:id/unlink',
    'POST /account/sign-in-methods/link',
    'POST /account/sessions/others/end',
    'GET /search',
    'GET /organization',
    'GET /organization/members',
    'GET /organization/members/:id',
    'GET /organization/members/:id/remove',
    'GET /organization/members/invite',
    'GET /organization/settings',
    'GET /organization/teams',
    'GET /organization/teams/:id',
    'GET /organization/teams/:id/delete',
    'GET /organization/teams/new',
    'GET /organizations',
    'POST /organization/members/:id/limits',
    'POST /organization/members/:id/remove',
    'POST /organization/members/:id/role',
    'POST /organization/members/invitations/:id/resend',
    'POST /organization/members/invitations/:id/withdraw',
    'POST /organization/members/invite',
    'POST /organization/settings/defaults',
    'POST /organization/settings/delete',
    'POST /organization/settings/leave',
    'POST /organization/settings/name',
    'POST /organization/settings/transfer',
    'POST /organization/settings/transfer/accept',
    'POST /organization/settings/transfer/decline',
    'POST /organization/settings/transfer/withdraw',
    'POST /organization/teams/:id',
    'POST /organization/teams/:id/delete',
    'POST /organization/teams/new',
    'POST /organizations',
    'POST /organizations/invitations/:id/accept',
    'POST /organizations/invitations/:id/decline',
    'POST /scope',
    'GET /playground',
    'GET /playground/calls/:id',
    'POST /playground',
    'POST /playground/preview',
    'POST /playground/stream',
    'GET /keys',
    'GET /keys/:id',
    'GET /keys/:id/delete',
    'GET /keys/:id/edit',
    'GET /keys/:id/leaked',
    'GET /keys/new',
    'GET /keys/selected/delete',
    'GET /keys/selected/edit',
    'POST /keys/:id/delete',
    'POST /keys/:id/disable',
    'POST /keys/:id/edit',
    'POST /keys/:id/enable',
    'POST /keys/:id/leaked',
    'POST /keys/:id/notices/:notice',
    'POST /keys/:id/raise',
    'POST /keys/:id/replace',
    'POST /keys/new',
    'POST /keys/selected',
    'POST /keys/selected/delete',
    'POST /keys/selected/edit',
    'GET /usage-logs/common',
    'GET /usage-logs/common.csv',
    'GET /usage-logs/common/:id',
    'POST /usage-logs/common/:id/forget',
    'GET /wallet',
    'GET /wallet/consumption.csv',
    'GET /wallet/payments/:id',
    'GET /wallet/top-ups.csv',
    'POST /wallet',
    'POST /wallet/payments',
  ],
  administrator: [
    'GET /admin',
    'GET /admin/audit',
    'GET /admin/audit.csv',
    'GET /admin/calls',
    'GET /admin/calls.csv',
    'GET /admin/calls/:id',
    'GET /admin/channels',
    'GET /admin/channels/:id',
    'GET /admin/channels/:id/delete',
    'GET /admin/channels/new',
    'GET /admin/codes',
    'GET /admin/codes/new',
    'GET /admin/groups',
    'GET /admin/groups/:name',
    'GET /admin/groups/new',
    'GET /admin/models',
    'GET /admin/models/*',
    'GET /admin/models/add',
    'GET /admin/models/new',
    'GET /admin/organizations',
    'GET /admin/organizations/:id',
    'GET /admin/organizations/:id/allowance',
    'GET /admin/organizations/:id/balance',
    'GET /admin/organizations/:id/delete',
    'GET /admin/organizations/:id/keys/:key',
    'GET /admin/organizations/:id/keys/:key/delete',
    'GET /admin/organizations/:id/keys/:key/quota',
    'GET /admin/organizations/:id/members/:member',
    'GET /admin/organizations/:id/members/add',
    'GET /admin/organizations/new',
    'GET /admin/payments',
    'GET /admin/payments/:id',
    'GET /admin/routing',
    'GET /admin/settings',
    'GET /admin/settings/:section',
    'GET /admin/settings/limits',
    'GET /admin/settings/providers',
    'GET /admin/settings/providers/:name',
    'GET /admin/settings/providers/:name/claims',
    'GET /admin/settings/providers/:name/try',
    'GET /admin/settings/providers/new',
    'GET /admin/settings/token-issuers',
    'GET /admin/settings/token-issuers/:id',
    'GET /admin/settings/token-issuers/new',
    'GET /admin/users',
    'GET /admin/users/:id',
    'GET /admin/users/:id/allowance',
    'GET /admin/users/:id/balance',
    'GET /admin/users/:id/delete',
    'GET /admin/users/:id/keys/:key',
    'GET /admin/users/:id/keys/:key/delete',
    'GET /admin/users/:id/keys/:key/quota',
    'GET /admin/users/:id/second-factor',
    'GET /admin/users/invitations',
    'GET /admin/users/new',
    'POST /admin/channels/:id',
    'POST /admin/channels/:id/delete',
    'POST /admin/channels/:id/off',
    'POST /admin/channels/:id/on',
    'POST /admin/channels/new',
    'POST /admin/codes/:id/void',
    'POST /admin/codes/csv',
    'POST /admin/codes/new',
    'POST /admin/groups/:name',
    'POST /admin/groups/:name/switch',
    'POST /admin/groups/new',
    'POST /admin/models/*',
    'POST /admin/models/add',
    'POST /admin/models/new',
    'POST /admin/organizations/:id/allowance',
    'POST /admin/organizations/:id/balance',
    'POST /admin/organizations/:id/delete',
    'POST /admin/organizations/:id/enable',
    'POST /admin/organizations/:id/keys/:key/delete',
    'POST /admin/organizations/:id/keys/:key/disable',
    'POST /admin/organizations/:id/keys/:key/enable',
    'POST /admin/organizations/:id/keys/:key/quota',
    'POST /admin/organizations/:id/members/:member/remove',
    'POST /admin/organizations/:id/members/:member/role',
    'POST /admin/organizations/:id/members/add',
    'POST /admin/organizations/:id/settings',
    'POST /admin/organizations/:id/suspend',
    'POST /admin/organizations/new',
    'POST /admin/payments/:id',
    'POST /admin/settings/limits/:kind',
    'POST /admin/settings/mail',
    'POST /admin/settings/mail/test',
    'POST /admin/settings/payment',
    'POST /admin/settings/providers/:name',
    'POST /admin/settings/providers/:name/claims',
    'POST /admin/settings/providers/:name/delete',
    'POST /admin/settings/providers/new',
    'POST /admin/settings/retention',
    'POST /admin/settings/sign-up',
    'POST /admin/settings/site',
    'POST /admin/settings/token-issuers/:id',
    'POST /admin/settings/token-issuers/:id/delete',
    'POST /admin/settings/token-issuers/new',
    'POST /admin/switch-model/*',
    'POST /admin/users/:id/allowance',
    'POST /admin/users/:id/balance',
    'POST /admin/users/:id/delete',
    'POST /admin/users/:id/enable',
    'POST /admin/users/:id/keys/:key/delete',
    'POST /admin/users/:id/keys/:key/disable',
    'POST /admin/users/:id/keys/:key/enable',
    'POST /admin/users/:id/keys/:key/quota',
    'POST /admin/users/:id/role',
    'POST /admin/users/:id/second-factor',
    'POST /admin/users/:id/sessions/:session/end',
    'POST /admin/users/:id/sessions/end',
    'POST /admin/users/:id/settings',
    'POST /admin/users/:id/suspend',
    'POST /admin/users/invitations/:id/resend',
    'POST /admin/users/invitations/:id/withdraw',
    'POST /admin/users/new',
    'POST /admin/withdraw-prices/*',
  ],
};

describe('routes', () => {
  let relay: RelayApp;
  let routes: readonly Route[];

  beforeAll(async () => {
    relay = await RelayApp.start();
    routes = routesOf(relay);
  });
  afterAll(() => relay.close());

  it('say of every page who may visit it', () => {
    const silent = routes.filter(({ access, takesKey }) => access === undefined && !takesKey);
    expect(silent.filter(({ controller }) => OTHERS[controller] === undefined)).toEqual([]);
  });

  it.each(Object.entries(PAGES))('open to %s visitors are those and no others', (access, pages) => {
    const open = routes.filter((route) => route.access === access).map(({ name }) => name);
    expect(open.toSorted()).toEqual([...pages].toSorted());
  });

  /** Every address of operators, with something in the place of each parameter. */
  const operatorAddresses = (): { method: 'GET' | 'POST'; path: string }[] =>
    routes
      .filter(({ access }) => access === 'administrator')
      .map(({ name }) => {
        const [method, path = ''] = name.split(' ');
        return { method: method === 'GET' ? 'GET' : 'POST', path: path.replaceAll(/:\w+|\*/g, 'some') };
      });
  const ask = (visitor: PageVisitor, { method, path }: { method: 'GET' | 'POST'; path: string }) =>
    method === 'GET' ? visitor.get(path) : visitor.post(path);

  it('of operators do not exist for anybody else, whatever is asked there', async () => {
    const password = 'violet kettle umbrella';
    await relay.get(Onboarding).createAccount({
      email: 'ann@example.com',
      password: new Secret(password),
      verified: true,
    });
    const ann = new PageVisitor(relay.url);
    await ann.signIn('ann@example.com', password);
    await ann.get('/keys');
    const addresses = operatorAddresses();
    expect(addresses.length).toBeGreaterThan(30);
    for (const address of addresses) {
      const response = await ask(ann, address);
      expect({ ...address, status: response.status }).toEqual({ ...address, status: 404 });
    }
  });

  it('that require a session show a sign-out button', async () => {
    const { browser } = await operatorVisit(relay);
    const shown: string[] = [];
    for (const { name } of routes.filter((route) => route.access !== undefined && /^GET [^:*]*$/.test(route.name))) {
      const { status, headers, text } = await browser.get(name.slice('GET '.length));
      if (status !== 200 || headers.get('content-type')?.startsWith('text/html') !== true) continue;
      shown.push(name);
      expect({ name, signsOut: text.includes('action="/sign-out"') }).toEqual({ name, signsOut: true });
    }
    expect(shown.length).toBeGreaterThan(30);
  });

  it('of administrators redirect to the sign-in without a session', async () => {
    const nobody = new PageVisitor(relay.url);
    await nobody.get('/sign-in');
    for (const address of operatorAddresses()) {
      const response = await ask(nobody, address);
      expect({ ...address, to: new URL(response.location, relay.url).pathname }).toEqual({
        ...address,
        to: '/sign-in',
      });
    }
  });
});
