import { DataSource } from 'typeorm';
import { AccountService, AccountStatus, SignInProviders } from '../../src/auth/index.js';
import { Invitations, Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { SettingsEditor } from '../../src/platform/settings/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { turnOnSecondFactor } from '../support/authenticator.js';
import { foreignKey, type Forgery, IdentityProvider, signed, unsigned } from '../support/identity-provider.js';
import { Mailbox } from '../support/mailbox.js';
import { forgetSignIn } from '../support/operator-visit.js';
import { type PageResponse, PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const PASSWORD = 'violet kettle umbrella';
const BEGIN = '/sign-in/with/acme';

/** Handlebars escapes more than it must. */
const unescaped = (text: string): string => text.replaceAll('&#x3D;', '=');

let made = 0;

describe('sign-in with a provider', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;
  let idp: IdentityProvider;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    relay = await RelayApp.start({}, { SMTP_URL: mailbox.url, STARTING_CREDIT: '5', TRUSTED_PROXIES: '127.0.0.1' });
    idp = await IdentityProvider.start([`${relay.url}${BEGIN}/callback`]);
    await relay.get(SignInProviders).add({
      name: 'acme',
      label: 'Acme',
      issuer: idp.issuer,
      clientId: IdentityProvider.clientId,
      clientSecret: new Secret(IdentityProvider.clientSecret),
      linksByEmail: false,
    });
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

  const email = (): string => `person${made}@example.com`;
  const sql = <T>(text: string, ...values: unknown[]): Promise<T[]> => relay.get(DataSource).query(text, values);
  const pathOf = (address: string): string => address.replace(relay.url, '');
  /** Each test has a network of its own. */
  const visitor = (): PageVisitor => new PageVisitor(relay.url, { 'x-forwarded-for': `10.7.${made}.1` });
  /** To the provider and back: the address of the callback. */
  const callbackFor = async (browser: PageVisitor, next = ''): Promise<string> => {
    const { location } = await browser.get(`${BEGIN}${next && `?next=${encodeURIComponent(next)}`}`);
    expect(location.startsWith(idp.issuer)).toBe(true);
    return pathOf(await idp.visit(location));
  };
  const arrive = async (browser: PageVisitor, next?: string): Promise<PageResponse> =>
    browser.get(await callbackFor(browser, next));
  const account = async (more: object = {}): Promise<string> =>
    (
      await relay
        .get(Onboarding)
        .createAccount({ email: email(), password: new Secret(PASSWORD), verified: true, ...more })
    ).id;
  const register = async (browser: PageVisitor, fields: Record<string, string> = {}): Promise<PageResponse> => {
    expect((await arrive(browser)).location).toBe('/register/provider');
    return browser.submit('/register/provider', { name: 'Ann', invitation: '', ...fields });
  };
  const isSignedIn = async (browser: PageVisitor): Promise<boolean> => (await browser.get('/account')).status === 200;
  /** What the page that a refusal leads to says. */
  const refusalOf = async (browser: PageVisitor, response: PageResponse, to = '/sign-in'): Promise<string> => {
    expect(response).toMatchObject({ status: 303, location: to });
    return (await browser.get(to)).text;
  };
  const linksByEmail = async (isOn: boolean): Promise<void> => {
    const provider = await relay.get(SignInProviders).get('acme');
    const typed = { ...provider, linksByEmail: isOn, clientSecret: new Secret('') };
    await relay.get(SignInProviders).change(typed, provider.revision);
  };
  const signUp = async (changes: Record<string, string>): Promise<void> => {
    const { revision } = await relay.get(SettingsEditor).section('signUp');
    const typed = { mode: 'open', domains: '', startingCredit: '5', sessionIdleHours: '336', ...changes };
    await relay.get(SettingsEditor).change('signUp', revision, typed);
  };

  it('offers the providers on the pages for sign-in and registration, and continues where the user was going', async () => {
    const browser = visitor();
    const { text } = await browser.get(`/sign-in?next=${encodeURIComponent('/keys?a=1&b=2')}`);
    expect(unescaped(text)).toContain('href="/sign-in/with/acme?next=%2Fkeys%3Fa%3D1%26b%3D2"');
    expect(text).toContain('Continue with Acme');
    expect(unescaped((await browser.get('/register')).text)).toContain('href="/sign-in/with/acme?next=%2F"');
    expect((await browser.get('/sign-in/with/nobody')).status).toBe(404);
  });

  it('asks with PKCE, state and nonce', async () => {
    const { location } = await visitor().get(BEGIN);
    const asked = Object.fromEntries(new URL(location).searchParams);
    expect(asked).toEqual({
      response_type: 'code',
      client_id: 'relay',
      scope: 'openid email profile',
      redirect_uri: `${relay.url}${BEGIN}/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('creates an account like any registration once the user confirms, and signs in to it from then on', async () => {
    const browser = visitor();
    expect((await arrive(browser, '/keys')).location).toBe('/register/provider');
    await expect(relay.get(AccountService).find(email())).resolves.toBeUndefined();
    const page = await browser.get('/register/provider');
    expect(page.text).toContain(`You are signed in at Acme as Person${made}@Example.com.`);
    expect(page.text).toContain('value="Ann Miller"');
    expect((await browser.post('/register/provider', { name: 'Ann' })).location).toBe('/keys');
    expect(await isSignedIn(browser)).toBe(true);
    const created = await relay.get(AccountService).find(email());
    expect(created).toMatchObject({ name: 'Ann', role: 'user', state: 'enabled', verifiedAt: expect.any(Date) });
    await expect(relay.get(WalletService).balanceOf(created?.id ?? '')).resolves.toMatchObject({
      balance: 5_000_000_000n,
    });
    idp.claims = { email: 'another@example.com', email_verified: false };
    const other = visitor();
    expect((await arrive(other, '/wallet')).location).toBe('/wallet');
    expect((await other.get('/account')).text).toContain(email());
  });

  it('leads to no other site afterwards', async () => {
    for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      const browser = visitor();
      await callbackFor(browser, next);
      const rows = await sql<{ next: string }>('SELECT next FROM provider_attempts');
      expect(rows.map((row) => row.next)).not.toContain(next);
      for (const row of rows) expect(new URL(row.next, 'http://here.invalid').origin).toBe('http://here.invalid');
    }
  });

  it('refuses new accounts without a verified address', async () => {
    for (const claims of [{ email: email() }, { email: email(), email_verified: false }, { email_verified: true }]) {
      idp.claims = claims;
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('Acme has not verified your email address');
    }
    await expect(relay.get(AccountService).find(email())).resolves.toBeUndefined();
  });

  describe('under the rules of sign-up', () => {
    afterEach(() => signUp({}));

    it('creates no account while registration is closed, but signs in to existing ones', async () => {
      expect((await register(visitor())).location).toBe('/');
      await signUp({ mode: 'closed' });
      expect((await arrive(visitor())).location).toBe('/');
      idp.subject += '-new';
      idp.claims = { email: `new-${email()}`, email_verified: true };
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('Registration is closed');
    });

    it('creates no account once registration was closed after the page was opened', async () => {
      const browser = visitor();
      await arrive(browser);
      await browser.get('/register/provider');
      await signUp({ mode: 'closed' });
      const response = await browser.post('/register/provider', { name: 'Ann' });
      expect(await refusalOf(browser, response)).toContain('Registration is closed');
      await expect(relay.get(AccountService).find(email())).resolves.toBeUndefined();
    });

    it('creates accounts of the allowed domains only', async () => {
      await signUp({ domains: 'example.org' });
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('that ends in @example.org');
    });

    it('needs an invitation where registration does', async () => {
      await signUp({ mode: 'invite' });
      const [code = ''] = await relay.get(Invitations).create({ count: 1 });
      const browser = visitor();
      expect((await register(browser)).text).toContain('Enter your invitation code.');
      expect((await register(browser, { invitation: 'nonsense' })).text).toContain('this one is unknown');
      expect((await register(browser, { invitation: code })).location).toBe('/');
      expect((await relay.get(Invitations).list()).map(({ usedBy }) => usedBy)).toEqual([email()]);
    });
  });

  describe('with an address that has an account', () => {
    afterEach(() => linksByEmail(false));

    it('does not sign in to it by the address alone', async () => {
      await account();
      const browser = visitor();
      const text = await refusalOf(browser, await arrive(browser));
      expect(text).toContain('An account with your email address exists.');
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('links it where the provider may, and notifies the owner', async () => {
      await account();
      await linksByEmail(true);
      const browser = visitor();
      expect((await arrive(browser)).location).toBe('/');
      expect(await isSignedIn(browser)).toBe(true);
      expect((await mailbox.latestTo(email())).message.subject).toBe('Acme was linked to your Switchboard account');
    });

    it('does not link it by an unverified address', async () => {
      await account();
      await linksByEmail(true);
      idp.claims = { email: email(), email_verified: false };
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('Acme has not verified your email address');
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('links no account whose own address is unverified, unless it has no password', async () => {
      const id = await account({ verified: false });
      await linksByEmail(true);
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('An account with your email address exists.');
      await sql('UPDATE accounts SET password_hash = NULL WHERE id = $1', id);
      expect((await arrive(visitor())).location).toBe('/');
      await expect(relay.get(AccountService).byId(id)).resolves.toMatchObject({ verifiedAt: expect.any(Date) });
    });
  });

  describe('from the account page', () => {
    const link = async (browser: PageVisitor): Promise<PageResponse> => {
      expect(unescaped((await browser.get('/account')).text)).toContain('href="/sign-in/with/acme?next=%2Faccount"');
      expect((await arrive(browser, '/account')).location).toBe('/account/sign-in-methods/link');
      expect((await browser.get('/account/sign-in-methods/link')).text).toContain('Link Acme to your account?');
      return browser.post('/account/sign-in-methods/link');
    };
    const idOf = async (browser: PageVisitor): Promise<string> =>
      /sign-in-methods\/(idn_\w+)\/unlink/.exec((await browser.get('/account')).text)?.[1] ?? '';

    it('is linked after a confirmation, and unlinked', async () => {
      const browser = await signedIn(relay, await account());
      expect((await link(browser)).location).toBe('/account');
      expect((await mailbox.latestTo(email())).message.subject).toBe('Acme was linked to your Switchboard account');
      expect((await arrive(visitor())).location).toBe('/');
      const linked = await idOf(browser);
      expect((await browser.post(`/account/sign-in-methods/${linked}/unlink`)).location).toBe('/account');
      const other = visitor();
      expect(await refusalOf(other, await arrive(other))).toContain('An account with your email address exists.');
      expect((await mailbox.latestTo(email(), 2)).message.subject).toBe(
        'Acme was unlinked from your Switchboard account',
      );
    });

    it('asks for the password if the sign-in is not recent', async () => {
      const id = await account();
      const browser = await signedIn(relay, id);
      await forgetSignIn(relay, id);
      expect((await link(browser)).text).toContain('Confirm your password');
      expect(await idOf(browser)).toBe('');
      await browser.post('/account/sign-in-methods/link', { password: 'wrong' });
      expect(await idOf(browser)).toBe('');
      await browser.post('/account/sign-in-methods/link', { password: PASSWORD });
      const linked = await idOf(browser);
      expect(linked).not.toBe('');
      await forgetSignIn(relay, id);
      const unlink = await browser.post(`/account/sign-in-methods/${linked}/unlink`);
      expect(unlink.text).toContain('Confirm your password');
      expect(await idOf(browser)).toBe(linked);
    });

    it('is linked to one account only, and unlinked by its owner only', async () => {
      const browser = await signedIn(relay, await account());
      await link(browser);
      const other = await signedIn(relay, await account({ email: `other-${email()}` }));
      const text = await refusalOf(other, await arrive(other, '/account'), '/account');
      expect(text).toContain('This Acme sign-in is linked to another account.');
      const linked = await idOf(browser);
      await other.get('/account');
      expect((await other.post(`/account/sign-in-methods/${linked}/unlink`)).status).toBe(404);
      expect(await idOf(browser)).toBe(linked);
    });

    it('stays linked while the account has no password', async () => {
      const browser = visitor();
      await register(browser);
      expect((await browser.get('/account')).text).toContain('href="/forgot">Set password by email');
      const linked = await idOf(browser);
      expect((await browser.post(`/account/sign-in-methods/${linked}/unlink`)).status).toBe(409);
      expect(await idOf(browser)).toBe(linked);
      const [{ id } = { id: '' }] = await sql<{ id: string }>('SELECT id FROM accounts WHERE email = $1', email());
      await forgetSignIn(relay, id);
      const again = await browser.post(`/account/sign-in-methods/${linked}/unlink`, { password: 'anything at all' });
      expect(again.text).toContain('your account has no password');
    });

    it('is erased with the account', async () => {
      const id = await account();
      await link(await signedIn(relay, id));
      await relay.get(AccountStatus).delete(id, () => Promise.resolve());
      expect(await sql('SELECT id FROM linked_identities WHERE account_id = $1', id)).toEqual([]);
    });
  });

  it('still asks for the code of two-factor authentication', async () => {
    const browser = visitor();
    await register(browser);
    const { app } = await turnOnSecondFactor(browser);
    const other = visitor();
    expect((await arrive(other, '/keys')).location).toBe('/sign-in/code');
    expect(await isSignedIn(other)).toBe(false);
    expect((await other.submit('/sign-in/code', { code: app.next() })).location).toBe('/keys');
    expect(await isSignedIn(other)).toBe(true);
  });

  it('refuses suspended accounts', async () => {
    await register(visitor());
    const { id } = await relay.get(AccountService).get(email());
    await relay.get(AccountStatus).disable(id);
    const browser = visitor();
    expect(await refusalOf(browser, await arrive(browser))).toContain('This account is suspended.');
    expect(await isSignedIn(browser)).toBe(false);
  });

  describe('with a state', () => {
    it('that was used refuses it again', async () => {
      const browser = visitor();
      const callback = await callbackFor(browser);
      expect((await browser.get(callback)).location).toBe('/register/provider');
      expect(await refusalOf(browser, await browser.get(callback))).toContain('was already used');
    });

    it('of another browser refuses it there, and still accepts it from its own', async () => {
      const [attacker, victim] = [visitor(), visitor()];
      await victim.get('/sign-in');
      const callback = await callbackFor(attacker);
      expect(await refusalOf(victim, await victim.get(callback))).toContain('began in another browser');
      expect((await attacker.get(callback)).location).toBe('/register/provider');
    });

    it('that expired, or that nobody has made, refuses it', async () => {
      const browser = visitor();
      const callback = await callbackFor(browser);
      await sql(`UPDATE provider_attempts SET expires_at = now() - interval '1 second'`);
      expect(await refusalOf(browser, await browser.get(callback))).toContain('This sign-in expired');
      const made_up = `${BEGIN}/callback?code=abc&state=${'x'.repeat(43)}`;
      expect(await refusalOf(browser, await browser.get(made_up))).toContain('This sign-in expired');
    });
  });

  describe('with an ID token', () => {
    const now = Math.floor(Date.now() / 1000);
    const FORGERIES: Readonly<Record<string, Forgery>> = {
      'with another nonce': (claims) => signed({ ...claims, nonce: 'another' }),
      'without a nonce': ({ nonce: _, ...claims }) => signed(claims),
      'of another issuer': (claims) => signed({ ...claims, iss: 'https://evil.example' }),
      'for another client': (claims) => signed({ ...claims, aud: 'other' }),
      'authorized for another client': (claims) => signed({ ...claims, azp: 'other' }),
      'that expired': (claims) => signed({ ...claims, exp: now - 61 }),
      'from the future': (claims) => signed({ ...claims, iat: now + 3600, exp: now + 7200 }),
      'without a signature': (claims) => unsigned(claims),
      'signed with another key': (claims) => signed(claims, foreignKey()),
    };

    it.each(Object.entries(FORGERIES))('%s refuses it', async (_, forgery) => {
      idp.forgery = forgery;
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('could not be verified');
      await expect(relay.get(AccountService).find(email())).resolves.toBeUndefined();
    });

    it('within the accepted difference of clocks accepts it', async () => {
      idp.forgery = (claims) => signed({ ...claims, exp: Math.floor(Date.now() / 1000) - 30 });
      expect((await arrive(visitor())).location).toBe('/register/provider');
    });
  });

  it('says so when the user cancels', async () => {
    idp.isDenied = true;
    const browser = visitor();
    expect(await refusalOf(browser, await arrive(browser))).toContain('The sign-in was canceled');
  });

  it('limits sign-ins that one network begins', async () => {
    const browser = new PageVisitor(relay.url, { 'x-forwarded-for': '10.9.9.9' });
    const statuses = [];
    for (let count = 0; count < 31; count++) statuses.push((await browser.get(BEGIN)).status);
    expect(new Set(statuses.slice(0, 30))).toEqual(new Set([303]));
    expect(statuses[30]).toBe(429);
    expect((await visitor().get(BEGIN)).status).toBe(303);
  });

  it('says so when the provider cannot be reached, before and after the user was there', async () => {
    const gone = await IdentityProvider.start([`${relay.url}/sign-in/with/gone/callback`]);
    const secret = new Secret('secret');
    const provider = { name: 'gone', label: 'Gone', issuer: gone.issuer, clientId: 'relay', linksByEmail: false };
    await relay.get(SignInProviders).add({ ...provider, clientSecret: secret });
    const browser = visitor();
    const callback = pathOf(await gone.visit((await browser.get('/sign-in/with/gone')).location));
    await gone.close();
    expect(await refusalOf(browser, await browser.get(callback))).toContain('Gone cannot be reached at present.');
    await relay.get(SignInProviders).remove('gone');
    await relay.get(SignInProviders).add({ ...provider, clientSecret: new Secret('another') });
    const { status, text } = await visitor().get('/sign-in/with/gone');
    expect(status).toBe(503);
    expect(text).toContain('Gone cannot be reached at present.');
  });
});
