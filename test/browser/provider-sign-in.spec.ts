import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { PasswordPolicy, SignInProviders } from '../../src/auth/index.js';
import { SettingsEditor } from '../../src/platform/settings/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { operatorVisit } from '../support/operator-visit.js';
import { RelayApp } from '../support/relay-app.js';

describe('sign-in with a provider, in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let idp: IdentityProvider;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    idp = await IdentityProvider.start([`${relay.url}/sign-in/with/acme/callback`]);
    await relay.get(SignInProviders).add(idp.settings);
  });
  afterAll(async () => {
    await browser.close();
    await idp.close();
    await relay.close();
  });

  it.each([true, false])(
    'goes there and back, with script: %s',
    async (javaScriptEnabled) => {
      idp.subject = `user-${javaScriptEnabled}`;
      idp.claims = { email: `ann-${javaScriptEnabled}@example.com`, email_verified: true, name: 'Ann Miller' };
      const window = await Window.open(browser, relay.url, { javaScriptEnabled });
      const { page } = window;
      const look = (name: string) => (javaScriptEnabled ? expectFine(window, name) : Promise.resolve());

      await page.goto('/keys');
      await look('provider-sign-in');
      await page.getByRole('link', { name: 'Continue with Acme' }).click();
      await page.getByRole('heading', { name: 'Create your account' }).waitFor();
      await look('provider-register');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByText('Your account is ready.').waitFor();
      expect(new URL(page.url()).pathname).toBe('/keys');
      await page.goto('/account');
      await look('provider-account');

      // Without a password, a form needs the provider again.
      await relay.get(DataSource).query(`UPDATE sessions SET confirmed_at = now() - interval '1 hour'`);
      await page.getByRole('button', { name: 'Unlink' }).click();
      await page.getByRole('heading', { name: 'Confirm your sign-in' }).waitFor();
      await look('provider-confirm');
      await page.getByRole('link', { name: 'Sign in with your provider again' }).click();
      await page.getByText('Sign-in confirmed').waitFor();
      expect(new URL(page.url()).pathname).toBe('/account');

      await page.getByRole('button', { name: 'Sign out of this browser' }).click();
      // At the provider, to which the page leads on its own.
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('Signed out', { exact: true }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/sign-in');
      await page.getByRole('link', { name: 'Continue with Acme' }).click();
      await page.getByRole('link', { name: 'API keys' }).first().waitFor();
      expect(window.complaints).toEqual([]);
      await window.close();
    },
    180_000,
  );

  it('is the only way shown when passwords are turned off, unless the command line allows them', async () => {
    const admin = await operatorVisit(relay);
    await relay.get(SettingsEditor).change('signUp', (await relay.get(SettingsEditor).section('signUp')).revision, {
      mode: 'open',
      domains: '',
      startingCredit: '0',
      sessionIdleHours: '336',
      passwordSignInIsOff: 'yes',
    });
    await relay.get(DataSource).query(
      `INSERT INTO linked_identities (id, account_id, issuer, subject, linked_at, last_used_at)
       VALUES ('idn_x', $1, $2, 'x', now(), now())`,
      [admin.accountId, idp.issuer],
    );
    const window = await Window.open(browser, relay.url);
    await window.page.goto('/sign-in');
    await expectFine(window, 'password-off');
    await window.page.goto('/register');
    await expectFine(window, 'password-off-register');
    await relay.get(PasswordPolicy).allowFor(3_600_000);
    await window.page.goto('/sign-in');
    await window.page.getByText('Password sign-in is temporarily allowed').waitFor();
    await expectFine(window, 'password-allowed');
    await window.close();
  }, 180_000);

  it('is linked on a page that asks first, and the settings are as good as the other pages', async () => {
    idp.subject = 'user-admin';
    idp.claims = { email: 'ann.miller@example.com', email_verified: true, name: 'Ann Miller' };
    const window = await Window.as(browser, (await operatorVisit(relay)).browser);
    const { page } = window;
    await page.goto('/account');
    await page.getByRole('link', { name: 'Link Acme' }).click();
    await page.getByRole('heading', { name: 'Link Acme to your account?' }).waitFor();
    await expectFine(window, 'provider-link');
    await page.getByRole('button', { name: 'Link Acme' }).click();
    await page.getByText('You can now sign in with Acme').waitFor();
    await page.goto('/admin/settings/providers/acme/claims');
    await page.getByLabel('Claim').fill('realm_access.roles');
    await page.getByLabel('Value').fill('relay-admin');
    await page.getByLabel('Assigns').selectOption({ label: 'Administrator' });
    await page.getByRole('button', { name: 'Add rule' }).click();
    const second = page.getByRole('group', { name: 'Rule 2' });
    await second.getByLabel('Claim').fill('groups');
    await second.getByLabel('Value').fill('a group with a name of sixty characters, the longest possible');
    await second.getByLabel('Assigns').selectOption({ index: 2 });
    await page.getByRole('button', { name: 'Save rules' }).click();
    await page.getByText('Rules saved').waitFor();
    idp.claims = { ...idp.claims, groups: ['staff', 'all'], realm_access: { roles: ['relay-admin'] } };
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByRole('heading', { name: 'Claims of Acme' }).waitFor();
    await expectFine(window, 'provider-trial');
    for (const [path, name] of [
      ['/admin/settings/providers/acme/claims', 'provider-claims'],
      ['/admin/settings/providers', 'provider-list'],
      ['/admin/settings/providers/new', 'provider-new'],
      ['/admin/settings/providers/acme', 'provider-edit'],
    ] as const) {
      await page.goto(path);
      await expectFine(window, name);
    }
    await window.close();
  }, 180_000);
});
