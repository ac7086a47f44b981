import { Secret } from '../../src/platform/shared/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const PASSWORD = 'violet kettle umbrella';
const EMAIL = 'new@example.com';

/** Every form of a page that takes text: where it stands, what it carries, where it goes when not there. */
const FORMS: readonly (readonly [page: string, fields: Record<string, string>, to?: string])[] = [
  ['/register', { name: 'Ann', email: EMAIL, password: PASSWORD, invitation: '' }],
  ['/sign-in', { email: EMAIL, password: PASSWORD }],
  ['/forgot', { email: EMAIL }],
  ['/verify/address', { email: EMAIL }],
  ['/account', { name: 'Ann', timeZone: 'UTC' }, '/account/profile'],
  ['/account/password', { currentPassword: PASSWORD, password: 'copper lantern meadow' }],
  ['/account/email', { email: EMAIL, currentPassword: PASSWORD }],
  ['/account/email', { code: '123456' }, '/account/email/confirm'],
  ['/wallet', { code: 'A'.repeat(28), _once: 'a'.repeat(22) }],
  [
    '/keys/new',
    {
      name: 'laptop',
      group: 'default',
      quota: '1',
      daily: '1',
      weekly: '1',
      monthly: '1',
      expires: '2030-01-01',
      _once: 'b'.repeat(22),
    },
  ],
];
/** Forms of who is signed out, and of who has shown no address to be theirs. */
const SIGNED_OUT = ['/register', '/sign-in', '/forgot'];

describe('a form in which a field stands twice', () => {
  let relay: RelayApp;
  let browser: PageVisitor;
  let unverified: PageVisitor;

  beforeAll(async () => {
    relay = await RelayApp.start();
    const email = 'ann@example.com';
    await relay.get(Onboarding).createAccount({ email, password: new Secret(PASSWORD), verified: false });
    unverified = new PageVisitor(relay.url);
    await unverified.signIn(email, PASSWORD);
    browser = await signedIn(relay, (await relay.caller()).accountId);
  });
  afterAll(() => relay.close());

  const visitorOf = (page: string): PageVisitor => {
    if (SIGNED_OUT.includes(page)) return new PageVisitor(relay.url);
    return page === '/verify/address' ? unverified : browser;
  };
  const doubled = FORMS.flatMap(([page, fields, to = page]) =>
    [...Object.keys(fields), '_csrf'].map((name) => ({ page, fields, to, name })),
  );

  it.each(doubled)('is refused with a client error: $name of $to', async ({ page, fields, to, name }) => {
    const visitor = visitorOf(page);
    expect((await visitor.get(page)).status).toBe(200);
    const value = name === '_csrf' ? visitor.csrf : (fields[name] ?? '');
    const { status } = await visitor.post(to, { ...fields, [name]: [value, value] });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
});
