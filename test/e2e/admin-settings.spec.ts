import { DataSource } from 'typeorm';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Settings } from '../../src/platform/settings/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { PageVisitor, type PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';
import { operatorVisit } from '../support/operator-visit.js';

const PAGE = '/admin/settings';
const CONFLICT = 'These settings were changed while you edited them';

/** The revision that the form of a section carries. */
const revisionOf = ({ text }: PageResponse, section: string): string =>
  new RegExp(`action="${PAGE}/${section}".*?name="revision" value="(\\d+)"`, 's').exec(text)?.[1] ?? '';

describe('the settings pages', () => {
  let relay: RelayApp;
  let operator: PageVisitor;

  const start = async (environment: Record<string, string> = {}): Promise<void> => {
    relay = await RelayApp.start({}, environment);
    operator = (await operatorVisit(relay)).browser;
  };
  afterEach(() => relay.close());

  /** Sends a section as its form was shown just now. */
  const save = async (section: string, fields: Record<string, string>): Promise<PageResponse> => {
    const revision = revisionOf(await operator.get(`${PAGE}/${section}`), section);
    return operator.post(`${PAGE}/${section}`, { revision, ...fields });
  };
  const site = (changes: Record<string, string>) => ({ name: 'Acme', supportContact: '', terms: '', ...changes });
  const signUp = (changes: Record<string, string>) => ({
    mode: 'open',
    domains: '',
    startingCredit: '0',
    sessionIdleHours: '336',
    ...changes,
  });

  it('are one per section, and link to each other', async () => {
    await start();
    expect(await operator.get(PAGE)).toMatchObject({ status: 303, location: `${PAGE}/site` });
    const paths = ['site', 'sign-up', 'mail', 'payment', 'retention', 'providers', 'limits'].map(
      (section) => `${PAGE}/${section}`,
    );
    for (const path of paths) {
      const { status, text } = await operator.get(path);
      expect(status).toBe(200);
      for (const other of paths) expect(text).toContain(`<a href="${other}"`);
      expect(text).toContain(`<a href="${path}" aria-current="true">`);
      expect(text).toMatch(new RegExp(`(?:action|href)="${path}[/"]`));
    }
    expect((await operator.get(`${PAGE}/planet`)).status).toBe(404);
  });

  it('changes the service name on all pages immediately', async () => {
    await start();
    expect((await save('site', site({ name: 'Acme models', supportContact: 'help@acme.example' }))).location).toBe(
      `${PAGE}/site`,
    );
    expect((await operator.get(`${PAGE}/site`)).text).toContain('name Switchboard → Acme models');
    const { text } = await new PageVisitor(relay.url).get('/sign-in');
    expect(text).toContain('<title>Sign in · Acme models</title>');
    expect(text).toContain('Welcome back to Acme models.');
    expect(text).toContain('href="mailto:help@acme.example"');
    expect(text).not.toContain('Switchboard');
  });

  it('publishes the terms at /terms once they are set', async () => {
    await start();
    const otherUser = new PageVisitor(relay.url);
    expect((await otherUser.get('/terms')).status).toBe(404);
    expect((await otherUser.get('/register')).text).not.toContain('href="/terms"');
    await save('site', site({ terms: 'Be kind.\r\n\r\nSee https://acme.example/rules. <b>' }));
    const { status, text } = await otherUser.get('/terms');
    expect(status).toBe(200);
    expect(text).toContain('<p>Be kind.</p>');
    expect(text).toContain(
      '<a href="https://acme.example/rules" rel="nofollow">https://acme.example/rules</a>. &lt;b&gt;',
    );
    for (const page of ['/register', '/pricing']) expect((await otherUser.get(page)).text).toContain('href="/terms"');
  });

  it('shows an announcement to signed-in users on all pages while it is set', async () => {
    await start();
    const { accountId } = await relay.caller();
    const ann = await signedIn(relay, accountId);
    const visitor = new PageVisitor(relay.url);
    const shownTo = async (browser: PageVisitor, path: string): Promise<boolean> =>
      (await browser.get(path)).text.includes('<strong>Announcement</strong><p>Maintenance at 22:00 &lt;UTC&gt;</p>');
    expect(await shownTo(ann, '/')).toBe(false);
    await save('site', site({ announcement: 'Maintenance at 22:00 <UTC>' }));
    expect((await operator.get(`${PAGE}/site`)).text).toContain('announcement (none) → Maintenance');
    for (const path of ['/', '/keys', '/pricing', '/docs'])
      expect([path, await shownTo(ann, path)]).toEqual([path, true]);
    for (const path of ['/', '/pricing', '/sign-in'])
      expect([path, await shownTo(visitor, path)]).toEqual([path, false]);
    expect((await save('site', site({ announcement: 'x'.repeat(301) }))).text).toContain(
      'Enter at most 300 characters.',
    );
    await save('site', site({ announcement: '' }));
    expect(await shownTo(ann, '/')).toBe(false);
  });

  it('shows errors at the fields, keeps what was typed, and saves nothing', async () => {
    await start();
    const { status, text } = await save('sign-up', {
      mode: 'invite',
      domains: 'not a domain',
      startingCredit: 'five',
      sessionIdleHours: 'many',
    });
    expect(status).toBe(422);
    expect(text).toContain('<title>Error: Sign-up settings');
    expect(text).toMatch(/id="domains-error">.*?Enter domain names/s);
    expect(text).toMatch(/id="startingCredit-error">.*?Enter an amount in dollars/s);
    expect(text).toMatch(/id="sessionIdleHours-error">.*?Enter 1 to 720 hours/s);
    expect(text).toContain('value="five"');
    expect(text).toContain('>not a domain</textarea>');
    expect(text).toContain('<option value="invite" selected>');
    expect(relay.get(Settings).current().signUp.mode).toBe('open');
  });

  it('shows both values and changes nothing when the section was changed meanwhile', async () => {
    await start();
    const other = (await operatorVisit(relay)).browser;
    const revision = revisionOf(await operator.get(`${PAGE}/site`), 'site');
    await other.submit(`${PAGE}/site`, { revision, ...site({ name: 'Theirs' }) }, `${PAGE}/site`);
    const refused = await operator.post(`${PAGE}/site`, { revision, ...site({ name: 'Mine' }) });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(CONFLICT);
    expect(refused.text).toContain('<li>Name: now <b>Theirs</b>, yours <b>Mine</b></li>');
    expect(relay.get(Settings).current().site.name).toBe('Theirs');
    const again = { revision: revisionOf(refused, 'site'), ...site({ name: 'Mine' }) };
    expect((await operator.post(`${PAGE}/site`, again)).status).toBe(303);
    expect(relay.get(Settings).current().site.name).toBe('Mine');
  });

  it('controls who can register', async () => {
    await start();
    const otherUser = new PageVisitor(relay.url);
    const register = () =>
      otherUser.submit('/register', {
        name: 'Ann',
        email: 'ann@elsewhere.example',
        password: 'violet kettle umbrella',
        invitation: '',
      });
    await save('sign-up', signUp({ domains: 'acme.example' }));
    expect((await register()).text).toContain('Enter an address that ends in @acme.example.');
    await save('sign-up', signUp({ mode: 'closed' }));
    expect((await otherUser.get('/register')).text).not.toContain('action="/register"');
    expect((await otherUser.post('/register', {})).location).toBe('');
  });

  it('sets the idle session timeout, which is shown on the sign-in page', async () => {
    await start();
    const { text } = await new PageVisitor(relay.url).get('/sign-in');
    expect(text).toContain('You are signed out earlier after 14 days of inactivity.');
    await save('sign-up', signUp({ sessionIdleHours: '5' }));
    expect((await operator.get(`${PAGE}/sign-up`)).text).toContain('idle session timeout (hours) 336 → 5');
    expect((await operator.get('/account')).text).toContain('Sessions end after 5 hours of inactivity.');
    await relay.get(DataSource).query(`UPDATE sessions SET last_seen_at = now() - interval '5 hours'`);
    expect((await operator.get(PAGE)).location).toContain('/sign-in');
  });

  it('shows from when on calls are kept, and that money data is kept', async () => {
    await start();
    expect((await operator.get(`${PAGE}/retention`)).text).toContain('No calls are deleted. Balances, wallet ledgers');
    await save('retention', { callsMonths: '2' });
    expect(relay.get(Settings).current().retention.callsMonths).toBe(2);
    const now = new Date();
    const kept = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2, 1));
    const month = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')[kept.getUTCMonth()];
    const day = `1 ${month} ${kept.getUTCFullYear()}`;
    const { text } = await operator.get(`${PAGE}/retention`);
    expect(text).toContain(`Calls before ${day} and their attempts are permanently deleted`);
  });

  it('shows values set by environment variables as read-only', async () => {
    await start({
      SIGN_UP: 'invite',
      SESSION_IDLE_HOURS: '48',
      SMTP_URL: 'smtp://relay:hunter2-secret@mail.example.com:587',
      SUPPORT_CONTACT: 'help@acme.example',
    });
    const signUpPage = (await operator.get(`${PAGE}/sign-up`)).text;
    expect(signUpPage).toMatch(/id="mode" value="Invitation only" readonly/);
    expect(signUpPage).toContain('Set by the environment variable SIGN_UP.');
    expect(signUpPage).toMatch(/id="sessionIdleHours" value="48 hours" readonly/);
    const { text } = await operator.get(`${PAGE}/mail`);
    expect(text).toMatch(/id="server" value="smtp:\/\/relay@mail.example.com:587" readonly/);
    expect(text).not.toContain('name="serverPassword"');
    expect(text).not.toContain('hunter2-secret');
    await save('sign-up', signUp({ startingCredit: '1' }));
    expect(relay.get(Settings).current().signUp).toMatchObject({ mode: 'invite', startingCredit: 1_000_000_000n });
  });

  it('requires a recent sign-in to change the mail server', async () => {
    await start();
    const password = 'copper lantern meadow';
    await relay
      .get(Onboarding)
      .createAccount({ email: 'olga@acme.example', role: 'admin', password: new Secret(password), verified: true });
    operator = new PageVisitor(relay.url);
    await operator.signIn('olga@acme.example', password);
    await relay.get(DataSource).query(`UPDATE sessions SET confirmed_at = now() - interval '16 minutes'`);
    const fields = { server: 'smtp://mail.acme.example', serverPassword: '', from: 'relay@acme.example' };
    const refused = await save('mail', fields);
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/id="password-error">.*?Enter your password/s);
    expect(refused.text).toContain('value="smtp://mail.acme.example"');
    expect(relay.get(Settings).current().mail.smtpUrl).toBeUndefined();
    expect((await save('mail', { ...fields, password: 'not it, not at all' })).status).toBe(422);
    expect((await save('mail', { ...fields, password })).status).toBe(303);
    expect(relay.get(Settings).current().mail.smtpUrl?.reveal()).toBe('smtp://mail.acme.example');
  });
});
