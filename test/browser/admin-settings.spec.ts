import type { Browser } from 'playwright-core';
import { expectFine, NARROW, startBrowser, Window } from '../support/browser.js';
import { Mailbox } from '../support/mailbox.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PAGE = '/admin/settings';

describe('the settings pages in a browser', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;
  let browser: Browser;
  let operator: PageVisitor;

  beforeAll(async () => {
    [relay, mailbox, browser] = await Promise.all([RelayApp.start(), Mailbox.open(), startBrowser()]);
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
    await mailbox.close();
  });

  const open = async (section: string): Promise<Window> => {
    const window = await Window.as(browser, operator);
    await window.page.goto(`${PAGE}/${section}`);
    return window;
  };
  const reported = ({ page }: Window): Promise<string> => page.locator('main .flash').first().innerText();

  it('has a page per section, each accessible and linked from the others', async () => {
    const window = await open('site');
    const { page } = window;
    const links = page.getByRole('navigation', { name: 'Settings' });
    for (const section of ['Site', 'Sign-up', 'Email', 'Payment', 'Retention', 'Default limits']) {
      await links.getByRole('link', { name: section, exact: true }).click();
      expect(await page.getByRole('heading', { level: 2 }).first().innerText()).toBe(section);
      await expectFine(window, `settings-${section}`);
    }
    await window.close();
  });

  it('sets the service name and terms, which registration shows', async () => {
    const window = await open('site');
    const { page } = window;
    await page.getByLabel('Name', { exact: true }).fill('Acme models');
    await page.getByLabel('Terms').fill('Be kind.\n\nAsk help@acme.example.');
    await page.getByRole('button', { name: 'Save site settings' }).click();
    expect(await reported(window)).toContain('Site settings saved');
    const otherUser = await Window.open(browser, relay.url);
    await otherUser.page.goto('/register');
    expect(await otherUser.page.title()).toBe('Create account · Acme models');
    await expectFine(otherUser);
    await otherUser.page.getByRole('main').getByRole('link', { name: 'terms' }).click();
    expect(await otherUser.page.getByRole('main').innerText()).toContain('Be kind.');
    await expectFine(otherUser);
    await otherUser.close();
    await window.close();
  });

  it('shows an announcement until it is removed', async () => {
    const window = await open('site');
    const { page } = window;
    const save = async (announcement: string): Promise<string> => {
      await page.getByLabel('Announcement').fill(announcement);
      await page.getByRole('button', { name: 'Save site settings' }).click();
      await page.goto('/');
      return page.getByRole('main').innerText();
    };
    const line = `Maintenance at 22:00 UTC: ${'calls may fail for a few minutes. '.repeat(6)}`.trim();
    expect(await save(line)).toContain(line);
    await expectFine(window, 'announcement');
    await page.goto(`${PAGE}/site`);
    expect(await save('')).not.toContain('Maintenance');
    await window.close();
  });

  it('shows errors at the fields, and keeps what was typed', async () => {
    const window = await open('sign-up');
    const { page } = window;
    await page.getByLabel('Registration').selectOption('Invitation only');
    await page.getByLabel('Allowed email domains').fill('not a domain');
    await page.getByLabel('Starting credit').fill('five');
    await page.getByRole('button', { name: 'Save sign-up settings' }).click();
    expect(await page.locator('#domains-error').innerText()).toContain('Enter domain names');
    expect(await page.getByLabel('Starting credit').inputValue()).toBe('five');
    expect(await page.getByLabel('Registration').inputValue()).toBe('invite');
    await page.getByRole('link', { name: /^Enter an amount/ }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('startingCredit');
    await expectFine(window);
    await window.close();
  });

  it('shows both values when a section was changed meanwhile', async () => {
    const [mine, theirs] = [await open('retention'), await open('retention')];
    for (const [window, months] of [
      [theirs, '6'],
      [mine, '12'],
    ] as const) {
      await window.page.getByLabel('Months to keep').fill(months);
      await window.page.getByRole('button', { name: 'Save retention settings' }).click();
    }
    expect(await reported(mine)).toMatch(/Months to keep: now 6, yours 12/);
    await expectFine(mine);
    await mine.page.getByRole('button', { name: 'Save retention settings' }).click();
    expect(await reported(mine)).toContain('months of usage logs 6 → 12');
    await mine.close();
    await theirs.close();
  });

  it('saves default limits of each kind, and links to invalid fields', async () => {
    const window = await open('limits');
    const { page } = window;
    const limits = page.getByRole('form', { name: 'Account' });
    await limits.getByLabel('Calls per minute').fill('none');
    await limits.getByRole('button', { name: 'Save limits' }).click();
    await page.getByRole('link', { name: /^Enter a whole number/ }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('account-callsPerMinute');
    await expectFine(window);
    await limits.getByLabel('Calls per minute').fill('600');
    await limits.getByRole('button', { name: 'Save limits' }).click();
    expect(await reported(window)).toContain('Default limits saved');
    await window.close();
  });

  it('sends a test email with the saved server, and shows its reply', async () => {
    const window = await open('mail');
    const { page } = window;
    await page.getByLabel('SMTP server').fill('mail.acme.example');
    await page.getByRole('button', { name: 'Save email settings' }).click();
    expect(await page.locator('#server-error').innerText()).toContain('Enter an address such as smtp://');
    await page.getByLabel('SMTP server').fill(mailbox.url);
    await page.getByRole('button', { name: 'Save email settings' }).click();
    await page.getByLabel('Recipient').fill('ann@example.com');
    await page.getByRole('button', { name: 'Send test email' }).click();
    expect(await reported(window)).toContain('Server reply: 250 OK');
    expect((await mailbox.latestTo('ann@example.com')).message.subject).toMatch(/^Test email from /);
    mailbox.refusals.push(554);
    await page.setViewportSize(NARROW);
    await page.getByLabel('Recipient').fill('bob@example.com');
    await page.getByRole('button', { name: 'Send test email' }).click();
    expect(await page.locator('#to-error').innerText()).toContain('554 not now');
    await expectFine(window, 'settings');
    await window.close();
  });
});
