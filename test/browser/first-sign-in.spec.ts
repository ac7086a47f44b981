import type { Browser, Page } from 'playwright-core';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { linkIn, Mailbox } from '../support/mailbox.js';
import { operatorVisit } from '../support/operator-visit.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';

describe('the first sign-in to an account that an administrator created, in a browser', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;
  let browser: Browser;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    [relay, browser] = await Promise.all([RelayApp.start({}, { SMTP_URL: mailbox.url }), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
    await mailbox.close();
  });

  const signIn = async (page: Page, email: string, password: string): Promise<void> => {
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it.each([true, false])(
    'leads to a password of their own, with script: %s',
    async (javaScriptEnabled) => {
      const email = `made-${javaScriptEnabled}@example.com`;
      const { generatedPassword } = await relay.get(Onboarding).createAccount({ email, verified: true });
      const given = generatedPassword?.reveal() ?? '';
      const window = await Window.open(browser, relay.url, { javaScriptEnabled });
      const { page } = window;
      await signIn(page, email, given);
      await page.waitForURL('**/choose-password');
      await page.goto('/keys');
      await page.waitForURL('**/choose-password');
      if (javaScriptEnabled) await expectFine(window);

      await page.getByLabel('New password').fill(given);
      await page.getByRole('button', { name: 'Set password' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.title()).toMatch(/^Error: /);
      expect(await page.getByText('Choose a different password than the one you were given.').count()).toBe(2);
      expect(await page.getByLabel('New password').inputValue()).toBe('');
      if (javaScriptEnabled) await expectFine(window);

      await page.getByLabel('New password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Set password' }).click();
      await page.waitForURL(`${relay.url}/`);
      await window.close();

      const later = await Window.open(browser, relay.url, { javaScriptEnabled });
      await signIn(later.page, email, PASSWORD);
      await later.page.waitForURL(`${relay.url}/`);
      await later.close();
    },
    120_000,
  );

  it('begins with a link in a mail where an operator invites them', async () => {
    const email = 'invited@example.com';
    const theirs = await Window.as(browser, (await operatorVisit(relay)).browser);
    await theirs.page.goto('/admin/users');
    await theirs.page.getByRole('link', { name: 'Invite user' }).click();
    await expectFine(theirs, 'users-invite');
    await theirs.page.getByLabel('Email').fill(email);
    await theirs.page.getByRole('button', { name: 'Send invitation' }).click();
    await theirs.page.getByText('User invited').waitFor();
    await theirs.page.getByRole('link', { name: 'Pending invitations' }).click();
    await theirs.page.getByRole('button', { name: `Withdraw the invitation of ${email}` }).waitFor();
    await expectFine(theirs, 'users-invitations');
    expect(theirs.complaints).toEqual([]);
    await theirs.close();

    const window = await Window.open(browser, relay.url);
    const { page } = window;
    await page.goto(linkIn(await mailbox.latestTo(email)));
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('alert').waitFor();
    await expectFine(window);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.waitForURL((url) => !url.pathname.startsWith('/reset'));
    await signIn(page, email, PASSWORD);
    await page.waitForURL(`${relay.url}/`);
    await window.close();
  }, 120_000);
});
