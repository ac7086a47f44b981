import type { Browser } from 'playwright-core';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { Authenticator } from '../support/authenticator.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';

describe('a second factor, in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const signIn = async ({ page }: Window, email: string): Promise<void> => {
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it.each([true, false])(
    'is set up, asked for and turned off, with script: %s',
    async (javaScriptEnabled) => {
      const email = `two-${javaScriptEnabled}@example.com`;
      await relay.get(Onboarding).createAccount({ email, password: new Secret(PASSWORD), verified: true });
      const window = await Window.open(browser, relay.url, { javaScriptEnabled });
      const { page } = window;
      const look = () => (javaScriptEnabled ? expectFine(window) : Promise.resolve());
      await signIn(window, email);
      await page.goto('/account');
      await page.getByRole('link', { name: 'Turn on' }).click();
      await look();
      await page.getByRole('button', { name: 'Show QR code' }).click();
      await page.getByRole('img', { name: /^QR code/ }).waitFor();
      await look();
      const app = new Authenticator(((await page.locator('#secret').textContent()) ?? '').replaceAll(' ', ''));

      await page.getByLabel('Code from the app').fill('000');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await page.getByRole('alert').waitFor();
      await look();
      await page.getByLabel('Code from the app').fill(app.next());
      await page.getByRole('button', { name: 'Turn on' }).click();
      await page.getByRole('heading', { name: 'Store your recovery codes now' }).waitFor();
      const listed = page.getByRole('region', { name: 'Recovery codes', exact: true });
      const codes = (await listed.innerText()).trim().split('\n');
      expect(codes).toHaveLength(10);
      await look();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download as text' }).click(),
      ]);
      expect(file.suggestedFilename()).toBe('recovery-codes.txt');
      await page.getByRole('link', { name: 'I’ve saved the codes' }).click();
      await page.getByText('10 recovery codes left.').waitFor();
      await look();
      await page.getByRole('button', { name: 'Sign out of this browser' }).click();

      await signIn(window, email);
      await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
      await look();
      await page.getByRole('link', { name: 'Use a recovery code' }).click();
      await page.getByLabel('Recovery code').fill(codes[0] ?? '');
      await look();
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('You have 9 recovery codes left.').waitFor();

      for (const path of ['/account/second-factor/recovery-codes', '/account/second-factor/off']) {
        await page.goto(path);
        await look();
      }
      await page.getByLabel('Current password').fill(PASSWORD);
      await page.getByLabel('Code from the app').fill(app.next());
      await page.getByRole('button', { name: 'Turn off' }).click();
      await page.getByText('Two-factor authentication turned off').waitFor();
      expect(window.complaints).toEqual([]);
      await window.close();
    },
    180_000,
  );
});
