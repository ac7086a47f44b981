import { DataSource } from 'typeorm';
import { type ClaimRule, SignInProviders } from '../../src/auth/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { IdentityProvider, type ProviderCookies } from './identity-provider.js';
import { Mailbox } from './mailbox.js';
import { type PageResponse, PageVisitor } from './page-visitor.js';
import { RelayApp } from './relay-app.js';

/** A relay, a mailbox, and a provider that users of the relay sign in with. */

export const PASSWORD = 'violet kettle umbrella';
export const BEGIN = '/sign-in/with/acme';

let made = 0;

const ANY_RULE: ClaimRule = {
  claim: 'groups',
  value: 'staff',
  target: 'administrator',
  id: '',
  detail: '',
  label: 'administrator',
};

/** Starts them for a spec file and stops them at the end. In each test, another user is signed in at the provider. */
export function useProvider() {
  let relay: RelayApp;
  let mailbox: Mailbox;
  let idp: IdentityProvider;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    relay = await RelayApp.start({}, { SMTP_URL: mailbox.url, STARTING_CREDIT: '5', TRUSTED_PROXIES: '127.0.0.1' });
    idp = await IdentityProvider.start([`${relay.url}${BEGIN}/callback`]);
    await relay.get(SignInProviders).add(idp.settings);
  });
  afterAll(async () => {
    await idp.close();
    await relay.close();
    await mailbox.close();
  });
  beforeEach(() => {
    const number = ++made;
    idp.subject = `subject-${number}`;
    idp.claims = { email: `Person${number}@Example.com`, email_verified: true, name: 'Ann Miller' };
    idp.isDenied = false;
    idp.forgery = undefined;
  });

  /** Of the user of this test. */
  const email = (): string => `person${made}@example.com`;
  const sql = <T>(text: string, ...values: unknown[]): Promise<T[]> => relay.get(DataSource).query(text, values);
  const pathOf = (address: string): string => address.replace(relay.url, '');
  /** Each test has a network of its own. */
  const visitor = (): PageVisitor => new PageVisitor(relay.url, { 'x-forwarded-for': `10.7.${made}.1` });
  /** From a page that leads to the provider and back: the address of the callback. */
  const callbackOf = async (browser: PageVisitor, page: string, cookies?: ProviderCookies): Promise<string> => {
    const { location } = await browser.get(page);
    expect(location.startsWith(idp.issuer)).toBe(true);
    return pathOf(await idp.visit(location, cookies));
  };
  const callbackFor = (browser: PageVisitor, next = '', cookies?: ProviderCookies): Promise<string> =>
    callbackOf(browser, `${BEGIN}${next && `?next=${encodeURIComponent(next)}`}`, cookies);
  /** The same, and the response of the callback. */
  const arrive = async (browser: PageVisitor, next?: string, cookies?: ProviderCookies): Promise<PageResponse> =>
    browser.get(await callbackFor(browser, next, cookies));
  /** Replaces the rules of the provider. */
  const rules = async (list: readonly Partial<ClaimRule>[], scopes = ''): Promise<void> => {
    const providers = relay.get(SignInProviders);
    const { revision } = await providers.get('acme');
    const whole = list.map((rule) => ({ ...ANY_RULE, ...rule }));
    await providers.changeClaims('acme', { scopes, rules: whole }, revision);
  };
  /** An account with the address of the user; gives its ID. */
  const account = async (more: object = {}): Promise<string> =>
    (
      await relay
        .get(Onboarding)
        .createAccount({ email: email(), password: new Secret(PASSWORD), verified: true, ...more })
    ).id;
  /** Arrives and sends the form that creates an account. */
  const register = async (browser: PageVisitor, fields: Record<string, string> = {}): Promise<PageResponse> => {
    expect((await arrive(browser)).location).toBe('/register/provider');
    return browser.submit('/register/provider', { name: 'Ann', invitation: '', ...fields });
  };
  const isSignedIn = async (browser: PageVisitor): Promise<boolean> => (await browser.get('/account')).status === 200;
  /** The text of the page that a refusal leads to. */
  const refusalOf = async (browser: PageVisitor, response: PageResponse, to = '/sign-in'): Promise<string> => {
    expect(response).toMatchObject({ status: 303, location: to });
    return (await browser.get(to)).text;
  };

  return {
    get relay() {
      return relay;
    },
    get mailbox() {
      return mailbox;
    },
    get idp() {
      return idp;
    },
    account,
    arrive,
    callbackFor,
    callbackOf,
    email,
    isSignedIn,
    pathOf,
    refusalOf,
    register,
    rules,
    sql,
    visitor,
  };
}
