import type { Browser } from 'playwright-core';
import { SignInProviders } from '../../src/auth/index.js';
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

      await page.getByRole('button', { name: 'Sign out of this browser' }).click();
      await page.getByText('Signed out', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Continue with Acme' }).click();
      await page.getByRole('link', { name: 'API keys' }).first().waitFor();
      expect(window.complaints).toEqual([]);
      await window.close();
    },
    180_000,
  );

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
    for (const [path, name] of [
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
