import type { Browser, Page } from 'playwright-core';
import { DataSource } from 'typeorm';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { expectFine, NARROW, sidewaysScroll, startBrowser, Window } from '../support/browser.js';
import { codeIn, linkIn, Mailbox } from '../support/mailbox.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';
const LONG = `${'a-very-long-name-of-a-mailbox'.repeat(2)}@example.com`;
let made = 0;

describe('the pages of accounts in a browser', () => {
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
  beforeEach(async () => {
    await relay.get(DataSource).query('DELETE FROM throttles');
  });

  const account = async (verified = true, email = `user${++made}@example.com`): Promise<string> => {
    await relay.get(Onboarding).createAccount({ email, name: 'Ann Miller', password: new Secret(PASSWORD), verified });
    return email;
  };
  const signIn = async (page: Page, email: string): Promise<void> => {
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const register = async (page: Page, email: string): Promise<void> => {
    await page.goto('/register');
    await page.getByLabel('Name').fill('Ann Miller');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL('**/verify');
  };
  const local = (link: string): string => new URL(link).pathname + new URL(link).search;

  it('are accessible and fit before anybody is signed in', async () => {
    const window = await Window.open(browser, relay.url);
    const { page } = window;
    for (const path of ['/register', '/sign-in', '/forgot']) {
      await page.goto(path);
      await expectFine(window);
    }
    await page.goto('/register');
    await page.getByLabel('Email').fill('nobody');
    await page.getByRole('button', { name: 'Create account' }).click();
    await expectFine(window);
    await register(page, LONG);
    await expectFine(window);
    await page.goto(local(linkIn(await mailbox.latestTo(LONG))));
    await expectFine(window);
    await page.goto('/verify/link?t=x');
    await expectFine(window);
    const email = await account();
    await page.goto('/forgot');
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await expectFine(window);
    await page.goto(local(linkIn(await mailbox.latestTo(email))));
    await expectFine(window);
    await window.close();
  }, 120_000);

  it('are accessible and fit signed-in users', async () => {
    const window = await Window.open(browser, relay.url);
    const { page } = window;
    await signIn(page, await account(false));
    await expectFine(window);
    await page.goto('/verify/address');
    await expectFine(window);
    const email = await account(true, LONG.replace('@', '2@'));
    const other = await Window.open(browser, relay.url);
    await signIn(other.page, email);
    await other.close();
    await page.context().clearCookies();
    await signIn(page, email);
    for (const path of ['/account', '/account/password', '/account/close', '/account/email']) {
      await page.goto(path);
      await expectFine(window, path.slice(1).replace('/', '-'));
    }
    await page.getByLabel('New email address').fill(`next${LONG}`);
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Send code' }).click();
    await page.getByLabel('Code from the email').waitFor();
    await expectFine(window);
    await window.close();
  }, 120_000);

  it.each([
    [true, 'Asia/Tokyo'],
    [false, 'UTC'],
  ])('lead from registering to a session, with script: %s, in the time zone %s', async (javaScriptEnabled, zone) => {
    const window = await Window.open(browser, relay.url, { javaScriptEnabled, timezoneId: 'Asia/Tokyo' });
    const { page } = window;
    const email = `user${++made}@example.com`;
    await register(page, email);
    await page.getByLabel('Code from the email').fill(codeIn(await mailbox.latestTo(email)));
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page.waitForURL(`${relay.url}/`);
    await page.goto('/account');
    expect(await page.getByLabel('Time zone').inputValue()).toBe(zone);
    await page.getByRole('button', { name: 'Sign out of this browser' }).click();
    await page.waitForURL('**/sign-in');
    expect(await page.evaluate('document.activeElement.id')).toBe('email');
    await page.goto('/account');
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/sign-in?next=%2Faccount');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/account');
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it('put the focus on what is to be mended, and keep what was typed but no password', async () => {
    const window = await Window.open(browser, relay.url);
    const { page } = window;
    await page.goto('/register');
    await page.getByLabel('Name').fill('Ann');
    await page.getByLabel('Email').fill('ann@example.com');
    await page.getByLabel('Password').fill('short');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.title()).toBe('Error: Create account · Switchboard');
    await expect(page.evaluate(`document.activeElement.getAttribute('role')`)).resolves.toBe('alert');
    await expect(page.getByLabel('Email').inputValue()).resolves.toBe('ann@example.com');
    await expect(page.getByLabel('Password').inputValue()).resolves.toBe('');
    await page.getByRole('link', { name: 'Use at least 12 characters' }).click();
    await expect(page.evaluate('document.activeElement.id')).resolves.toBe('password');
    await window.close();
  });

  it('of a mail show button, code and address in a window as narrow as a phone', async () => {
    const window = await Window.open(browser, relay.url, { viewport: NARROW });
    const email = `user${++made}@example.com`;
    await register(window.page, email);
    const mail = await mailbox.latestTo(email);
    const { page } = await Window.open(browser, relay.url, { viewport: NARROW });
    await page.setContent(String(mail.message.html));
    expect(await page.getByRole('link', { name: 'Confirm address' }).getAttribute('href')).toBe(linkIn(mail));
    expect(await page.textContent('.m-code')).toBe(`${codeIn(mail).slice(0, 3)} ${codeIn(mail).slice(3)}`);
    expect(await sidewaysScroll(page)).toBe(0);
    await window.close();
  });
});
