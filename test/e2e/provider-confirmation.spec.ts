import { SignInProviders } from '../../src/auth/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { IdentityProvider, signed } from '../support/identity-provider.js';
import { forgetSignIn } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { useProvider } from '../support/provider-world.js';

const CONFIRM = '/account/confirm?next=%2Faccount%2Fclose';

describe('a recent sign-in of users without a password', () => {
  const world = useProvider();
  const { arrive, callbackOf, email, pathOf, refusalOf, register, sql, visitor } = world;
  let browser: PageVisitor;
  let accountId: string;

  beforeEach(async () => {
    browser = visitor();
    await register(browser);
    [{ id: accountId } = { id: '' }] = await sql<{ id: string }>('SELECT id FROM accounts WHERE email = $1', email());
    await forgetSignIn(world.relay, accountId);
  });

  /** The page of a form that needs a recent sign-in, after the form was sent. */
  const unlink = async (): Promise<string> => {
    const [, id = ''] = /sign-in-methods\/(idn_\w+)\/unlink/.exec((await browser.get('/account')).text) ?? [];
    return (await browser.post(`/account/sign-in-methods/${id}/unlink`)).text;
  };
  const isAsked = async (): Promise<boolean> => (await unlink()).includes('Confirm your sign-in');
  const returnTo = async (callback: string, to = '/account/close'): Promise<string> =>
    refusalOf(browser, await browser.get(callback), to);

  it('is confirmed at the provider, which authenticates the user again, and leads back to the page', async () => {
    const page = await unlink();
    expect(page).toContain('Confirm your sign-in');
    expect(page).not.toContain('type="password"');
    const { location } = await browser.get(CONFIRM);
    const asked = new URL(location).searchParams;
    expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0']);
    expect(await returnTo(pathOf(await world.idp.visit(location)))).toContain('Sign-in confirmed');
    expect(await isAsked()).toBe(false);
  });

  it.each([
    ['says nothing about when the user authenticated', (claims: object) => signed({ ...claims, auth_time: undefined })],
    [
      'has authenticated the user earlier',
      (claims: object) => signed({ ...claims, auth_time: Math.floor(Date.now() / 1000) - 90 }),
    ],
    ['sends text instead of the time', (claims: object) => signed({ ...claims, auth_time: 'now' })],
  ])('is not confirmed when the provider %s', async (_, forgery) => {
    world.idp.forgery = forgery;
    const text = await returnTo(await callbackOf(browser, CONFIRM));
    expect(text).toMatch(/did not confirm that you signed in just now|could not be verified/);
    expect(await isAsked()).toBe(true);
  });

  it('is not confirmed by a plain sign-in, nor by someone else', async () => {
    expect((await arrive(browser, '/account')).location).toBe('/account');
    expect(await isAsked()).toBe(true);
    world.idp.subject += '-other';
    expect(await returnTo(await callbackOf(browser, CONFIRM))).toContain('as someone else');
    expect(await isAsked()).toBe(true);
  });

  it('is not confirmed for another session of the browser', async () => {
    const callback = await callbackOf(browser, CONFIRM);
    await sql(`UPDATE provider_attempts SET session_id = 'ses_other'`);
    expect(await returnTo(callback, '/account')).toContain('This sign-in expired');
    expect(await isAsked()).toBe(true);
  });

  it('leads to no other site', async () => {
    const callback = await callbackOf(browser, `/account/confirm?next=${encodeURIComponent('//evil.example')}`);
    expect((await browser.get(callback)).location).toBe('/');
  });

  it('asks which provider when several are linked', async () => {
    const other = await IdentityProvider.start([`${world.relay.url}/sign-in/with/other/callback`]);
    try {
      const provider = { ...other.settings, name: 'other', label: 'Other', clientSecret: new Secret('secret') };
      await world.relay.get(SignInProviders).add(provider);
      await sql(
        `INSERT INTO linked_identities (id, account_id, issuer, subject, linked_at) VALUES ($1, $1, $2, 'x', now())`,
        accountId,
        other.issuer,
      );
      const { text } = await browser.get(CONFIRM);
      expect(text).toContain('Continue with Acme');
      const { location } = await browser.get(`${CONFIRM}&with=other`);
      expect(location.startsWith(other.issuer)).toBe(true);
    } finally {
      await world.relay.get(SignInProviders).remove('other');
      await other.close();
    }
  });

  it('still takes the password of users who have one', async () => {
    await sql(`UPDATE accounts SET password_hash = 'x' WHERE id = $1`, accountId);
    expect(await unlink()).toContain('type="password"');
  });
});
