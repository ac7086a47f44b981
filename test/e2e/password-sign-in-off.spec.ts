import { SettingsEditor } from '../../src/platform/settings/index.js';
import { BackupWorld, OLD_SECRET_KEY } from '../support/backups.js';
import type { Outcome } from '../support/command-line.js';
import { forgetSignIn } from '../support/operator-visit.js';
import type { PageResponse, PageVisitor } from '../support/page-visitor.js';
import { addPasskey, optionsAt, PasskeyAuthenticator } from '../support/passkey-authenticator.js';
import { PASSWORD, useProvider } from '../support/provider-world.js';

const FIELD = 'name="password"';

describe('sign-in with a password, turned off', () => {
  const world = useProvider();
  const { account, arrive, email, isSignedIn, sql, visitor } = world;
  const commands = new BackupWorld();
  afterEach(() => commands.clear());
  afterAll(() => commands.remove());

  const turnOff = async (isOff: boolean): Promise<void> => {
    const { revision } = await world.relay.get(SettingsEditor).section('signUp');
    const others = { mode: 'open', domains: '', startingCredit: '5', sessionIdleHours: '336' };
    const typed = { ...others, ...(isOff && { passwordSignInIsOff: 'yes' }) };
    await world.relay.get(SettingsEditor).change('signUp', revision, typed);
  };
  beforeEach(async () => {
    await sql('DELETE FROM linked_identities');
    await sql('DELETE FROM password_window');
    await turnOff(true);
  });
  afterEach(() => turnOff(false));

  const signIn = async (browser: PageVisitor = visitor()): Promise<PageResponse> => {
    await browser.get('/sign-in');
    return browser.post('/sign-in', { email: email(), password: PASSWORD, next: '/' });
  };
  /** Makes the user of this test an identity of the account; a provider works once they have signed in with it. */
  const link = (id: string): Promise<unknown> =>
    sql(
      `INSERT INTO linked_identities (id, account_id, issuer, subject, linked_at) VALUES ($1, $1, $2, $3, now())`,
      id,
      world.idp.issuer,
      world.idp.subject,
    );
  const command = (...options: string[]): Promise<Outcome> => {
    const variables = { DATABASE_URL: world.relay.databaseUrl, SECRET_KEY: OLD_SECRET_KEY };
    return commands.command(variables, 'sign-in', 'local', ...options);
  };
  const audited = (): Promise<unknown[]> =>
    sql(`SELECT actor_kind, lines FROM audit_entries WHERE object_id = 'password sign-in' ORDER BY id DESC LIMIT 1`);

  it('is refused to users, but not to administrators until a provider works for one of them', async () => {
    await account();
    expect((await signIn()).text).toContain('Sign-in with a password is turned off.');
    await sql(`UPDATE accounts SET role = 'admin' WHERE email = $1`, email());
    expect((await signIn()).location).toBe('/');
  });

  it('is refused to administrators once one has signed in with a provider', async () => {
    const id = await account({ role: 'admin' });
    await link(id);
    expect((await signIn()).location).toBe('/');
    expect((await arrive(visitor())).location).toBe('/');
    const refused = await signIn();
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Sign-in with a password is turned off.');
    const { text } = await visitor().get('/sign-in');
    expect(text).not.toContain(FIELD);
    expect(text).toContain('Continue with Acme');
    await sql(`UPDATE accounts SET state = 'disabled' WHERE id = $1`, id);
    expect((await visitor().get('/sign-in')).text).toContain(FIELD);
  });

  it('is refused with a passkey instead of a password', async () => {
    await account();
    await turnOff(false);
    const owner = visitor();
    await owner.signIn(email(), PASSWORD);
    const passkey = new PasskeyAuthenticator(world.relay.url);
    await addPasskey(owner, passkey);
    for (const isOff of [true, false]) {
      await turnOff(isOff);
      const browser = visitor();
      await browser.get('/sign-in');
      const options = await optionsAt(browser, '/sign-in/passkey/options');
      await browser.post('/sign-in/passkey', { passkey: passkey.get(options) });
      expect(await isSignedIn(browser)).toBe(!isOff);
    }
  });

  it('tells nobody about it who does not know the password', async () => {
    await account();
    const browser = visitor();
    await browser.get('/sign-in');
    const { text } = await browser.post('/sign-in', { email: email(), password: 'wrong', next: '/' });
    expect(text).toContain('Wrong email or password.');
    expect(text).not.toContain('turned off');
  });

  it('makes no accounts with a password either', async () => {
    const browser = visitor();
    const { text } = await browser.get('/register');
    expect(text).not.toContain(FIELD);
    const fields = { name: 'Ann', email: email(), password: PASSWORD, invitation: '' };
    expect((await browser.post('/register', fields)).status).toBe(400);
  });

  it('confirms forms at the provider for sessions that began there', async () => {
    const id = await account();
    await link(id);
    const browser = visitor();
    expect((await arrive(browser)).location).toBe('/');
    await forgetSignIn(world.relay, id);
    await browser.get('/account');
    const { text } = await browser.post(`/account/sign-in-methods/${id}/unlink`, { password: PASSWORD });
    expect(text).toContain('Sign in with your provider again');
    expect(text).not.toContain(FIELD);
  });

  describe('and allowed by the command line', () => {
    it('works for everyone until it expires, shown on the page and recorded', async () => {
      await account();
      const { code, stdout } = await command('--for', '1h');
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^Password sign-in is allowed until 20\d\d-.*Z\.\n$/)]);
      const [, until = ''] = /until (.*)\.\n/.exec(stdout) ?? [];
      expect(Math.abs(Date.parse(until) - Date.now() - 3_600_000)).toBeLessThan(120_000);
      expect(await audited()).toEqual([{ actor_kind: 'command-line', lines: [`allowed until ${until}`] }]);
      const browser = visitor();
      const { text } = await browser.get('/sign-in');
      expect(text).toContain('Password sign-in is temporarily allowed');
      expect(text).toContain(`${until.slice(11, 16)} UTC`);
      expect((await signIn(browser)).location).toBe('/');
      expect(await isSignedIn(browser)).toBe(true);
      await sql(`UPDATE password_window SET ends_at = now() - interval '1 second'`);
      expect((await visitor().get('/sign-in')).text).not.toContain('temporarily allowed');
      expect((await signIn()).text).toContain('Sign-in with a password is turned off.');
    });

    it('ends early', async () => {
      await account();
      await command('--for', '30m', '--json');
      expect(await command('--end')).toMatchObject({
        code: 0,
        stdout: 'Password sign-in follows the setting again.\n',
      });
      expect(await audited()).toEqual([
        { actor_kind: 'command-line', lines: ['no longer allowed by the command line'] },
      ]);
      expect((await signIn()).text).toContain('Sign-in with a password is turned off.');
      expect(JSON.parse((await command('--end', '--json')).stdout)).toEqual({ ended: false });
    });

    it.each([[['--for', '2d']], [['--for', '25h']], [['--for', '0h']], [[]], [['--for', '1h', '--end']]])(
      'refuses %j',
      async (options) => {
        expect((await command(...options)).code).toBe(2);
        expect(await sql('SELECT 1 FROM password_window')).toEqual([]);
      },
    );
  });
});
