import { AccountService, SignInProviders } from '../../src/auth/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { foreignKey, type Forgery, IdentityProvider, signed, unsigned } from '../support/identity-provider.js';
import { PageVisitor } from '../support/page-visitor.js';
import { BEGIN, useProvider } from '../support/provider-world.js';

describe('the exchange with a provider', () => {
  const world = useProvider();
  const { arrive, callbackFor, email, pathOf, refusalOf, sql, visitor } = world;

  it('asks with PKCE, state and nonce', async () => {
    const { location } = await visitor().get(BEGIN);
    const asked = Object.fromEntries(new URL(location).searchParams);
    expect(asked).toEqual({
      response_type: 'code',
      client_id: 'relay',
      scope: 'openid email profile',
      redirect_uri: `${world.relay.url}${BEGIN}/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
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
      'without a nonce': (claims) => signed({ ...claims, nonce: undefined }),
      'of another issuer': (claims) => signed({ ...claims, iss: 'https://evil.example' }),
      'for another client': (claims) => signed({ ...claims, aud: 'other' }),
      'authorized for another client': (claims) => signed({ ...claims, azp: 'other' }),
      'that expired': (claims) => signed({ ...claims, exp: now - 61 }),
      'from the future': (claims) => signed({ ...claims, iat: now + 3600, exp: now + 7200 }),
      'with a NUL in its subject': (claims) => signed({ ...claims, sub: 'user\0' }),
      'without a signature': (claims) => unsigned(claims),
      'signed with another key': (claims) => signed(claims, foreignKey()),
    };

    it.each(Object.entries(FORGERIES))('%s refuses it', async (_, forgery) => {
      world.idp.forgery = forgery;
      const browser = visitor();
      expect(await refusalOf(browser, await arrive(browser))).toContain('could not be verified');
      await expect(world.relay.get(AccountService).find(email())).resolves.toBeUndefined();
    });

    it('within the accepted difference of clocks accepts it', async () => {
      world.idp.forgery = (claims) => signed({ ...claims, exp: Math.floor(Date.now() / 1000) - 30 });
      expect((await arrive(visitor())).location).toBe('/register/provider');
    });
  });

  it('refuses metadata of another issuer', async () => {
    const issuer = world.idp.issuer.replace('127.0.0.1', 'localhost');
    const clientSecret = new Secret(IdentityProvider.clientSecret);
    const provider = { name: 'fake', label: 'Fake', issuer, clientId: 'relay', linksByEmail: false, clientSecret };
    await world.relay.get(SignInProviders).add(provider);
    const { status, text } = await visitor().get('/sign-in/with/fake');
    expect(status).toBe(403);
    expect(text).toContain('The response of Fake could not be verified.');
  });

  it('says so when the user cancels', async () => {
    world.idp.isDenied = true;
    const browser = visitor();
    expect(await refusalOf(browser, await arrive(browser))).toContain('The sign-in was canceled');
  });

  it('limits sign-ins that one network begins', async () => {
    const browser = new PageVisitor(world.relay.url, { 'x-forwarded-for': '10.9.9.9' });
    const statuses = [];
    for (let count = 0; count < 31; count++) statuses.push((await browser.get(BEGIN)).status);
    expect(new Set(statuses.slice(0, 30))).toEqual(new Set([303]));
    expect(statuses[30]).toBe(429);
    expect((await visitor().get(BEGIN)).status).toBe(303);
  });

  it('says so when the provider cannot be reached, before and after the user was there', async () => {
    const gone = await IdentityProvider.start([`${world.relay.url}/sign-in/with/gone/callback`]);
    const secret = new Secret('secret');
    const provider = { name: 'gone', label: 'Gone', issuer: gone.issuer, clientId: 'relay', linksByEmail: false };
    await world.relay.get(SignInProviders).add({ ...provider, clientSecret: secret });
    const browser = visitor();
    const callback = pathOf(await gone.visit((await browser.get('/sign-in/with/gone')).location));
    await gone.close();
    expect(await refusalOf(browser, await browser.get(callback))).toContain('Gone cannot be reached at present.');
    await world.relay.get(SignInProviders).remove('gone');
    await world.relay.get(SignInProviders).add({ ...provider, clientSecret: new Secret('another') });
    const { status, text } = await visitor().get('/sign-in/with/gone');
    expect(status).toBe(503);
    expect(text).toContain('Gone cannot be reached at present.');
  });
});
