import { AccountService, AccountStatus, SignInProviders } from '../../src/auth/index.js';
import { Invitations } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { SettingsEditor } from '../../src/platform/settings/index.js';
import { WalletService } from '../../src/wallet/index.js';
import { turnOnSecondFactor } from '../support/authenticator.js';
import { forgetSignIn } from '../support/operator-visit.js';
import type { PageResponse, PageVisitor } from '../support/page-visitor.js';
import { PASSWORD, useProvider } from '../support/provider-world.js';
import { signedIn } from '../support/signed-in.js';

/** Handlebars escapes more than it must. */
const unescaped = (text: string): string => text.replaceAll('&#x3D;', '=');

describe('sign-in with a provider', () => {
  const world = useProvider();
  const { account, arrive, email, isSignedIn, refusalOf, register, sql, visitor } = world;

  const linksByEmail = async (isOn: boolean): Promise<void> => {
    const provider = await world.relay.get(SignInProviders).get('acme');
    const typed = { ...provider, linksByEmail: isOn, clientSecret: new Secret('') };
    await world.relay.get(SignInProviders).change(typed, provider.revision);
  };
  const signUp = async (changes: Record<string, string>): Promise<void> => {
    const { revision } = await world.relay.get(SettingsEditor).section('signUp');
    const typed = { mode: 'open', domains: '', startingCredit: '5', sessionIdleHours: '336', ...changes };
    await world.relay.get(SettingsEditor).change('signUp', revision, typed);
  };

  it('offers the providers on the pages for sign-in and registration, and continues where the user was going', async () => {
    const browser = visitor();
    const { text } = await browser.get(`/sign-in?next=${encodeURIComponent('/keys?a=1&b=2')}`);
    expect(unescaped(text)).toContain('href="/sign-in/with/acme?next=%2Fkeys%3Fa%3D1%26b%3D2"');
    expect(text).toContain('Continue with Acme');
    expect(unescaped((await browser.get('/register')).text)).toContain('href="/sign-in/with/acme?next=%2F"');
    expect((await browser.get('/sign-in/with/nobody')).status).toBe(404);
  });

  it('creates an account like any registration once the user confirms, and signs in to it from then on', async () => {
    const browser = visitor();
    expect((await arrive(browser, '/keys')).location).toBe('/register/provider');
    await expect(world.relay.get(AccountService).find(email())).resolves.toBeUndefined();
    const page = await browser.get('/register/provider');
    expect(page.text).toContain(`You are signed in at Acme as ${String(world.idp.claims['email'])}.`);
    expect(page.text).toContain('value="Ann Miller"');
    expect((await browser.post('/register/provider', { name: 'Ann' })).location).toBe('/keys');
    expect(await isSignedIn(browser)).toBe(true);
    const created = await world.relay.get(AccountService).find(email());
    expect(created).toMatchObject({ name: 'Ann', role: 'user', state: 'enabled', verifiedAt: expect.any(Date) });
    await expect(world.relay.get(WalletService).balanceOf(created?.id ?? '')).resolves.toMatchObject({
      balance: 5_000_000_000n,
    });
    world.idp.claims = { email: 'another@example.com', email_verified: false };
    const other = visitor();
    expect((await arrive(other, '/wallet')).location).toBe('/wallet');
    expect((await other.get('/account')).text).toContain(email());
  });

  it('refuses new accounts without a verified address', async () => {
    for (const claims of [{ email: email() }, { email: email(), email_verified: false }, { email_verified: true }]) {
      world.idp.claims = claims;
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('Acme has not verified your email address');
    }
    await expect(world.relay.get(AccountService).find(email())).resolves.toBeUndefined();
  });

  describe('under the rules of sign-up', () => {
    afterEach(() => signUp({}));

    it('creates no account while registration is closed, but signs in to existing ones', async () => {
      expect((await register(visitor())).location).toBe('/');
      await signUp({ mode: 'closed' });
      expect((await arrive(visitor())).location).toBe('/');
      world.idp.subject += '-new';
      world.idp.claims = { email: `new-${email()}`, email_verified: true };
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
      await expect(world.relay.get(AccountService).find(email())).resolves.toBeUndefined();
    });

    it('creates accounts of the allowed domains only', async () => {
      await signUp({ domains: 'example.org' });
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('that ends in @example.org');
    });

    it('needs an invitation where registration does', async () => {
      await signUp({ mode: 'invite' });
      const [code = ''] = await world.relay.get(Invitations).create({ count: 1 });
      const browser = visitor();
      expect((await register(browser)).text).toContain('Enter your invitation code.');
      expect((await register(browser, { invitation: 'nonsense' })).text).toContain('this one is unknown');
      expect((await register(browser, { invitation: code })).location).toBe('/');
      expect((await world.relay.get(Invitations).list()).map(({ usedBy }) => usedBy)).toEqual([email()]);
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
      expect((await world.mailbox.latestTo(email())).message.subject).toBe(
        'Acme was linked to your Switchboard account',
      );
    });

    it('does not link it by an unverified address', async () => {
      await account();
      await linksByEmail(true);
      world.idp.claims = { email: email(), email_verified: false };
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
      await expect(world.relay.get(AccountService).byId(id)).resolves.toMatchObject({ verifiedAt: expect.any(Date) });
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
      const browser = await signedIn(world.relay, await account());
      expect((await link(browser)).location).toBe('/account');
      expect((await world.mailbox.latestTo(email())).message.subject).toBe(
        'Acme was linked to your Switchboard account',
      );
      expect((await arrive(visitor())).location).toBe('/');
      expect((await browser.get('/account/data/account.json')).text).toContain(`"issuer": "${world.idp.issuer}"`);
      await browser.get('/account');
      const linked = await idOf(browser);
      expect((await browser.post(`/account/sign-in-methods/${linked}/unlink`)).location).toBe('/account');
      const other = visitor();
      expect(await refusalOf(other, await arrive(other))).toContain('An account with your email address exists.');
      expect((await world.mailbox.latestTo(email(), 2)).message.subject).toBe(
        'Acme was unlinked from your Switchboard account',
      );
    });

    it('asks for the password if the sign-in is not recent', async () => {
      const id = await account();
      const browser = await signedIn(world.relay, id);
      await forgetSignIn(world.relay, id);
      expect((await link(browser)).text).toContain('Confirm your password');
      expect(await idOf(browser)).toBe('');
      await browser.post('/account/sign-in-methods/link', { password: 'wrong' });
      expect(await idOf(browser)).toBe('');
      await browser.post('/account/sign-in-methods/link', { password: PASSWORD });
      const linked = await idOf(browser);
      expect(linked).not.toBe('');
      await forgetSignIn(world.relay, id);
      const unlink = await browser.post(`/account/sign-in-methods/${linked}/unlink`);
      expect(unlink.text).toContain('Confirm your password');
      expect(await idOf(browser)).toBe(linked);
    });

    it('is linked to one account only, and unlinked by its owner only', async () => {
      const browser = await signedIn(world.relay, await account());
      await link(browser);
      const other = await signedIn(world.relay, await account({ email: `other-${email()}` }));
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
      await forgetSignIn(world.relay, id);
      const again = await browser.post(`/account/sign-in-methods/${linked}/unlink`, { password: 'anything at all' });
      expect(again.text).toContain('Sign in with your provider again');
    });

    it('is erased with the account', async () => {
      const id = await account();
      await link(await signedIn(world.relay, id));
      await world.relay.get(AccountStatus).delete(id, () => Promise.resolve());
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
    const { id } = await world.relay.get(AccountService).get(email());
    await world.relay.get(AccountStatus).disable(id);
    const browser = visitor();
    expect(await refusalOf(browser, await arrive(browser))).toContain('This account is suspended.');
    expect(await isSignedIn(browser)).toBe(false);
  });
});
