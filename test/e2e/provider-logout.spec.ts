import { SignInProviders } from '../../src/auth/index.js';
import { turnOnSecondFactor } from '../support/authenticator.js';
import { foreignKey, type ProviderCookies, signed, unsigned } from '../support/identity-provider.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { BEGIN, useProvider } from '../support/provider-world.js';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const now = (): number => Math.floor(Date.now() / 1000);

/** Where the sign-out page of the relay leads. */
const continuesAt = (text: string): string => {
  const [, address = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text) ?? [];
  return address.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
};

describe('logout with a provider', () => {
  const world = useProvider();
  const { account, arrive, email, isSignedIn, register, sql, visitor } = world;

  /** A browser that has signed in with the provider. */
  const signedInBrowser = async (cookies?: ProviderCookies): Promise<PageVisitor> => {
    const browser = visitor();
    expect((await arrive(browser, '', cookies)).location).toBe('/');
    return browser;
  };
  const registered = async (): Promise<void> => {
    await register(visitor());
  };
  /** Signs out on the account page. */
  const signOut = async (browser: PageVisitor) => {
    await browser.get('/account');
    return browser.post('/sign-out');
  };

  describe('begun here', () => {
    it('ends the session here, and leads to the provider and back', async () => {
      await registered();
      const cookies: ProviderCookies = new Map();
      const browser = await signedInBrowser(cookies);
      const page = await signOut(browser);
      expect(page.status).toBe(200);
      expect(page.text).toContain('Signing out of Acme');
      expect(await isSignedIn(browser)).toBe(false);
      const url = new URL(continuesAt(page.text));
      expect(url.href.startsWith(`${world.idp.issuer}/`)).toBe(true);
      expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${world.relay.url}/sign-in`);
      expect(url.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      expect(await world.idp.signOut(url.href, cookies)).toBe(`${world.relay.url}/sign-in`);
      expect((await browser.get('/sign-in')).text).toContain('Signed out');
    });

    it('stays here for sessions that began with a password', async () => {
      await account();
      const browser = visitor();
      const password = 'violet kettle umbrella';
      await browser.get('/sign-in');
      expect((await browser.post('/sign-in', { email: email(), password, next: '/' })).location).toBe('/');
      expect((await signOut(browser)).location).toBe('/sign-in');
    });

    it('ends the session here even when the provider is gone', async () => {
      await registered();
      const browser = await signedInBrowser();
      const { clientSecret, ...provider } = await world.relay.get(SignInProviders).client('acme');
      await world.relay.get(SignInProviders).remove('acme');
      try {
        expect((await signOut(browser)).location).toBe('/sign-in');
      } finally {
        await world.relay.get(SignInProviders).add({ ...provider, clientSecret });
      }
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('stores the ID token encrypted, and deletes it with the account', async () => {
      await registered();
      await signedInBrowser();
      const [row] = await sql<{ sealed: string }>(
        'SELECT sealed_id_token AS sealed FROM provider_sessions WHERE subject = $1',
        world.idp.subject,
      );
      expect(row?.sealed).toMatch(/^v1\./);
      expect(row?.sealed).not.toContain('eyJ');
    });
  });

  describe('begun at the provider', () => {
    it('ends the sessions that began with its session, and no others', async () => {
      await registered();
      const cookies: ProviderCookies = new Map();
      const [one, two] = [await signedInBrowser(cookies), await signedInBrowser(cookies)];
      const other = await signedInBrowser();
      const url = continuesAt((await signOut(one)).text);
      await world.idp.signOut(url, cookies);
      expect(await isSignedIn(two)).toBe(false);
      expect(await isSignedIn(other)).toBe(true);
      const [entry] = await sql(
        `SELECT action, actor_kind, reason FROM audit_entries WHERE object_name = $1 ORDER BY id DESC LIMIT 1`,
        email(),
      );
      expect(entry).toEqual({ action: 'signed out', actor_kind: 'system', reason: 'logout at Acme' });
    });

    it('ends sign-ins that wait for their code', async () => {
      const browser = visitor();
      await register(browser);
      const { app } = await turnOnSecondFactor(browser);
      const waiting = visitor();
      expect((await arrive(waiting)).location).toBe('/sign-in/code');
      expect((await send(token())).status).toBe(200);
      expect((await waiting.get('/sign-in/code')).location).toBe('/sign-in');
      expect((await waiting.post('/sign-in/code', { code: app.next() })).status).not.toBe(200);
      expect(await isSignedIn(waiting)).toBe(false);
    });
  });

  const token = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
    iss: world.idp.issuer,
    aud: 'relay',
    iat: now(),
    exp: now() + 120,
    jti: `jti-${Math.random()}`,
    events: { [EVENT]: {} },
    sub: world.idp.subject,
    ...changes,
  });
  const send = (claims: Record<string, unknown> | string): Promise<Response> =>
    fetch(`${world.relay.url}${BEGIN}/logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: typeof claims === 'string' ? claims : signed(claims) }),
      headers: { 'x-forwarded-for': `10.8.${(network += 1) % 250}.1` },
    });
  let network = 0;

  describe('by a logout token', () => {
    it('ends all sessions of the subject, once', async () => {
      await registered();
      const browsers = [await signedInBrowser(), await signedInBrowser()];
      const claims = token();
      const accepted = await send(claims);
      expect([accepted.status, await accepted.text()]).toEqual([200, '']);
      expect(accepted.headers.get('cache-control')).toBe('no-store');
      for (const browser of browsers) expect(await isSignedIn(browser)).toBe(false);
      const again = await signedInBrowser();
      expect((await send(claims)).status).toBe(400);
      expect(await isSignedIn(again)).toBe(true);
    });

    const REFUSED: Readonly<Record<string, (valid: Record<string, unknown>) => Record<string, unknown> | string>> = {
      'of another issuer': (valid) => ({ ...valid, iss: 'https://evil.example' }),
      'for another client': (valid) => ({ ...valid, aud: 'other' }),
      'without an issue time': (valid) => ({ ...valid, iat: undefined }),
      'from the future': (valid) => ({ ...valid, iat: now() + 3600, exp: now() + 7200 }),
      'that expired': (valid) => ({ ...valid, iat: now() - 300, exp: now() - 61 }),
      'without an expiry': (valid) => ({ ...valid, exp: undefined }),
      'without an ID': (valid) => ({ ...valid, jti: undefined }),
      'with an empty ID': (valid) => ({ ...valid, jti: '' }),
      'without events': (valid) => ({ ...valid, events: undefined }),
      'of another event': (valid) => ({ ...valid, events: { 'https://acme.example/other': {} } }),
      'whose event is no object': (valid) => ({ ...valid, events: { [EVENT]: true } }),
      'with a nonce, which may be an ID token': (valid) => ({ ...valid, nonce: 'abc' }),
      'without subject and session': (valid) => ({ ...valid, sub: undefined }),
      'whose session is no text': (valid) => ({ ...valid, sid: 7 }),
      'without a signature': (valid) => unsigned(valid),
      'signed with another key': (valid) => signed(valid, foreignKey()),
      'that is no token': () => 'nonsense',
    };

    it.each(Object.entries(REFUSED))('%s ends nothing', async (_, forge) => {
      await registered();
      const browser = await signedInBrowser();
      const refused = await send(forge(token()));
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: 'invalid_request' });
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('of another subject, or for the session of someone else, ends nothing', async () => {
      await registered();
      const browser = await signedInBrowser();
      expect((await send(token({ sub: 'nobody' }))).status).toBe(200);
      expect((await send(token({ sid: 'another-session' }))).status).toBe(200);
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('is refused without one, and for a provider that does not exist', async () => {
      const missing = await fetch(`${world.relay.url}${BEGIN}/logout`, { method: 'POST', body: new URLSearchParams() });
      expect(missing.status).toBe(400);
      const address = `${world.relay.url}/sign-in/with/nobody/logout`;
      const unknown = await fetch(address, { method: 'POST', body: new URLSearchParams({ logout_token: 'x' }) });
      expect(unknown.status).toBe(404);
    });
  });
});
