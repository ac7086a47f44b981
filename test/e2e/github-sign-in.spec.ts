import { DataSource } from 'typeorm';
import { AccountService, SignInProviders } from '../../src/auth/index.js';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { Github } from '../support/github.js';
import { operatorVisit } from '../support/operator-visit.js';
import { type PageResponse, PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const BEGIN = '/sign-in/with/github';
let made = 0;

describe('sign-in with GitHub', () => {
  let relay: RelayApp;
  let github: Github;

  beforeAll(async () => {
    [relay, github] = await Promise.all([RelayApp.start({}, { TRUSTED_PROXIES: '127.0.0.1' }), Github.start()]);
    await relay.get(SignInProviders).add(github.settings);
  });
  afterAll(async () => {
    await github.close();
    await relay.close();
  });
  beforeEach(() => {
    const number = ++made;
    github.user = { id: 1000 + number, login: `ann-${number}`, name: 'Ann Miller' };
    github.emails = [
      { email: `other-${number}@example.com`, primary: false, verified: true, visibility: null },
      { email: email(), primary: true, verified: true, visibility: 'private' },
    ];
    github.isDenied = false;
    github.apiStatus = undefined;
  });

  const email = (): string => `ann-${made}@example.com`;
  const sql = <T>(text: string, ...values: unknown[]): Promise<T[]> => relay.get(DataSource).query(text, values);
  const visitor = (): PageVisitor => new PageVisitor(relay.url, { 'x-forwarded-for': `10.9.${made}.1` });
  const callbackFor = async (browser: PageVisitor, next = '/keys'): Promise<string> => {
    const { location } = await browser.get(`${BEGIN}?next=${encodeURIComponent(next)}`);
    expect(location).toContain(`${github.url}/login/oauth/authorize?`);
    return (await github.visit(location)).replace(relay.url, '');
  };
  const arrive = async (browser: PageVisitor, next?: string): Promise<PageResponse> =>
    browser.get(await callbackFor(browser, next));
  const isSignedIn = async (browser: PageVisitor): Promise<boolean> => (await browser.get('/account')).status === 200;
  const refusalOf = async (browser: PageVisitor, response: PageResponse): Promise<string> => {
    expect(response).toMatchObject({ status: 303, location: '/sign-in' });
    return (await browser.get('/sign-in')).text;
  };

  it('creates an account, and signs in to it by the numeric ID from then on', async () => {
    const browser = visitor();
    expect((await browser.get('/sign-in')).text).toContain('Continue with GitHub');
    expect((await arrive(browser)).location).toBe('/register/provider');
    const response = await browser.submit('/register/provider', { name: 'Ann', invitation: '' });
    expect(response.location).toBe('/keys');
    expect(await isSignedIn(browser)).toBe(true);
    const { id } = await relay.get(AccountService).get(email());
    await expect(
      sql('SELECT issuer, subject, email FROM linked_identities WHERE account_id = $1', id),
    ).resolves.toEqual([{ issuer: github.url, subject: String(github.user['id']), email: email() }]);
    github.user = { ...github.user, login: 'renamed' };
    github.emails = [];
    const later = visitor();
    expect((await arrive(later)).location).toBe('/keys');
    expect(await isSignedIn(later)).toBe(true);
  });

  it('creates no account with an unverified primary address, whatever other addresses are', async () => {
    github.emails = github.emails.map((one) => (one.primary ? { ...one, verified: false } : one));
    const browser = visitor();
    expect(await refusalOf(browser, await arrive(browser))).toContain('GitHub has not verified your email address');
  });

  it('links to an account that is signed in, but not by address', async () => {
    const password = new Secret('violet kettle umbrella');
    const { id } = await relay.get(Onboarding).createAccount({ email: email(), password, verified: true });
    const stranger = visitor();
    expect(await refusalOf(stranger, await arrive(stranger))).toContain('An account with your email address exists.');
    const browser = await signedIn(relay, id);
    expect((await arrive(browser, '/account')).location).toBe('/account/sign-in-methods/link');
    await browser.get('/account/sign-in-methods/link');
    await browser.post('/account/sign-in-methods/link');
    expect((await arrive(visitor())).location).toBe('/keys');
  });

  it('refuses a callback of another browser, a used one, and one with another state', async () => {
    const browser = visitor();
    const callback = await callbackFor(browser);
    const other = visitor();
    await other.get('/sign-in');
    const expired = 'This sign-in expired, was already used, or began in another browser.';
    expect(await refusalOf(other, await other.get(callback))).toContain(expired);
    const changed = callback.replace(/state=[^&]+/, `state=${Buffer.alloc(32).toString('base64url')}`);
    expect(await refusalOf(browser, await browser.get(changed))).toContain(expired);
    expect((await browser.get(callback)).location).toBe('/register/provider');
    expect(await refusalOf(browser, await browser.get(callback))).toContain(expired);
  });

  it('refuses a code that GitHub does not accept, such as one of another sign-in', async () => {
    const [first, second] = [visitor(), visitor()];
    const foreign = new URLSearchParams((await callbackFor(first)).split('?')[1]).get('code') ?? '';
    const callback = (await callbackFor(second)).replace(/code=[^&]+/, `code=${foreign}`);
    expect(await refusalOf(second, await second.get(callback))).toContain('could not be verified');
  });

  it('says so when the user declines, or the API fails', async () => {
    github.isDenied = true;
    const browser = visitor();
    expect(await refusalOf(browser, await arrive(browser))).toContain('The sign-in was canceled');
    github.isDenied = false;
    github.apiStatus = 502;
    expect(await refusalOf(browser, await arrive(browser))).toContain('GitHub cannot be reached at present.');
    github.apiStatus = undefined;
    github.user = { login: 'ann' };
    expect(await refusalOf(browser, await arrive(browser))).toContain('could not be verified');
  });

  describe('in the settings', () => {
    const PAGE = '/admin/settings/providers';
    const FIELDS = { kind: 'github', name: 'hub', label: 'Hub', issuer: '', clientId: 'x', clientSecret: 'y' };

    it('is at github.com unless an address is entered, and stays GitHub', async () => {
      const { browser } = await operatorVisit(relay);
      expect((await browser.get(`${PAGE}/new`)).text).toContain('<option value="github">GitHub</option>');
      expect((await browser.submit(`${PAGE}/new`, FIELDS)).location).toBe(PAGE);
      await expect(relay.get(SignInProviders).get('hub')).resolves.toMatchObject({
        kind: 'github',
        issuer: 'https://github.com',
      });
      expect((await browser.get(PAGE)).text).toContain('<td role="cell" data-label="Type">GitHub</td>');
      const { text } = await browser.get(`${PAGE}/hub`);
      const revision = /name="revision" value="(\d+)"/.exec(text)?.[1] ?? '';
      const changes = { revision, label: 'Git Hub', issuer: 'https://github.com', clientId: 'x', clientSecret: '' };
      expect((await browser.post(`${PAGE}/hub`, changes)).location).toBe(`${PAGE}/hub`);
      await expect(relay.get(SignInProviders).get('hub')).resolves.toMatchObject({ kind: 'github', label: 'Git Hub' });
    });

    it.each([
      [{ kind: 'gitlab' }, 'kind', 'Choose a type from the list.'],
      [{ issuer: 'https://github.com/acme' }, 'issuer', 'Enter https://github.com, or the address'],
      [{ issuer: 'github.com' }, 'issuer', 'Enter an https:// address'],
      [{ kind: 'openid' }, 'issuer', 'Enter an https:// address'],
    ])('says what to enter for %j', async (changes, field, message) => {
      const { browser } = await operatorVisit(relay);
      const { status, text } = await browser.submit(`${PAGE}/new`, { ...FIELDS, name: 'hub2', ...changes });
      expect(status).toBe(422);
      expect(text).toMatch(new RegExp(`id="${field}-error">.*?${message}`, 's'));
    });
  });
});
